"""The judge inside other people's code: in their tests (``portal_judge``) and in their portal (ASGI).

pytest loads this package wherever the suite is installed, so that nothing is imported here.
"""
