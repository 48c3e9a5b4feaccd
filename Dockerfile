# The suite as an image: docker build -t portal-conformance .
# Its command is portal-conformance; /work is the folder of the profile and of the reports.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md constraints.txt ./
COPY conformance conformance
COPY reference_impl reference_impl
COPY cases cases
COPY docs docs
RUN python -m venv /opt/conformance
RUN /opt/conformance/bin/pip install --no-cache-dir --constraint constraints.txt '.[replay,mcp]'

FROM python:3.13-slim
COPY --from=build /opt/conformance /opt/conformance
RUN useradd --uid 10001 --create-home conformance && install --directory --owner conformance /work
ENV PATH=/opt/conformance/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /work
EXPOSE 8000
# For `serve`: the portal answers. A container that runs something else serves nothing, and has no use for it.
HEALTHCHECK --interval=2s --timeout=5s --start-period=30s --retries=15 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=3); c.request('GET', '/'); c.getresponse()"]
ENTRYPOINT ["portal-conformance"]
CMD ["--help"]
