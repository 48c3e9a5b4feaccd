"""A real mail server for tests: Dovecot over TLS on a loopback port, with a self-signed certificate."""

from __future__ import annotations

import datetime
import ipaddress
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conformance.target.profile.tables import ImapInbox

PROGRAM = shutil.which("dovecot") or shutil.which("dovecot", path="/usr/sbin:/usr/local/sbin")
PASSWORD = "imap-secret"
STARTING = 30.0
DIRECTORIES = {"INBOX": "", "Prüfung": ".Pr&APw-fung"}
"""In Maildir++ a folder below the first is a folder with a dot; its name is in modified UTF-7."""

CONFIGURATION = """\
base_dir = {root}/run
state_dir = {root}/state
log_path = {root}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = required
auth_failure_delay = 0
ssl_cert = <{root}/certificate.pem
ssl_key = <{root}/key.pem
default_internal_user = {internal}
default_login_user = {login}
default_internal_group = {group}
mail_location = maildir:{root}/mail
first_valid_uid = 1
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={root}/mail allow_all_users=yes
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {starttls_port}
  }}
  inet_listener imaps {{
    port = {port}
  }}
}}
service anvil {{
  chroot =
}}
"""


@dataclass
class MailServer:
    """A running server. ``certificate`` is the file that a client has to trust."""

    root: Path
    port: int
    starttls_port: int
    uid: int
    gid: int
    numbers: Iterator[int]

    @property
    def certificate(self) -> Path:
        return self.root / "certificate.pem"

    def settings(self, **changed: object) -> ImapInbox:
        """What a profile says of this server."""
        tables: dict[str, object] = {
            "username": "codes@example.test",
            "password": PASSWORD,
            "verify": str(self.certificate),
            "port": self.starttls_port if changed.get("starttls") else self.port,
            **changed,
        }
        return ImapInbox(kind="imap", host="127.0.0.1", **tables)  # type: ignore[arg-type]

    def deliver(self, message: EmailMessage, folder: str = "INBOX") -> None:
        """A new message, as a mail server delivers it: written beside the folder, then moved into it."""
        place = self.root / "mail" / DIRECTORIES[folder]
        name = f"{time.time_ns()}.{next(self.numbers)}.localhost"
        (place / "tmp" / name).write_bytes(message.as_bytes())
        os.chown(place / "tmp" / name, self.uid, self.gid)
        (place / "tmp" / name).rename(place / "new" / name)

    def names(self, directory: str) -> list[str]:
        """The files of messages: those that a client has seen are in ``cur`` and have the flag S."""
        return sorted(file.name for file in (self.root / "mail" / directory).iterdir())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Runs a server until the end of the block, in a folder of its own: those of pytest are closed to the
    users that the server runs as."""
    with TemporaryDirectory(prefix="dovecot-") as folder:
        Path(folder).chmod(0o711)
        with _running(Path(folder)) as server:
            yield server


@contextmanager
def _running(root: Path) -> Iterator[MailServer]:
    assert PROGRAM is not None
    with socket.create_server(("127.0.0.1", 0)) as free, socket.create_server(("127.0.0.1", 0)) as other:
        port, starttls_port = free.getsockname()[1], other.getsockname()[1]
    server = MailServer(root, port, starttls_port, *_owner(), count())
    _write_certificate(root)
    _write_folders(server)
    (root / "dovecot.conf").write_text(_configuration(server), encoding="utf-8")
    process = subprocess.Popen(
        [PROGRAM, "-F", "-c", str(root / "dovecot.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _await(process, port, root / "dovecot.log")
        yield server
    finally:
        process.terminate()
        process.communicate(timeout=STARTING)


def _owner() -> tuple[int, int]:
    """Whose the messages are: Dovecot reads none of root's."""
    if os.getuid():
        return os.getuid(), os.getgid()
    user = pwd.getpwnam("mail")
    return user.pw_uid, user.pw_gid


def _configuration(server: MailServer) -> str:
    own = pwd.getpwuid(os.getuid())
    is_root = own.pw_uid == 0
    return CONFIGURATION.format(
        root=server.root,
        port=server.port,
        starttls_port=server.starttls_port,
        password=PASSWORD,
        uid=server.uid,
        gid=server.gid,
        internal="dovecot" if is_root else own.pw_name,
        login="dovenull" if is_root else own.pw_name,
        group="dovecot" if is_root else own.pw_gid,
    )


def _write_folders(server: MailServer) -> None:
    mail = server.root / "mail"
    for folder in DIRECTORIES.values():
        for part in ("tmp", "new", "cur"):
            (mail / folder / part).mkdir(parents=True)
    for path in (mail, *mail.rglob("*")):
        os.chown(path, server.uid, server.gid)


def _write_certificate(root: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "imap.example.test")])
    now = datetime.datetime.now(datetime.UTC)
    hosts = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(key, hashes.SHA256())
    )
    (root / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (root / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )


def _await(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until the server takes connections. RuntimeError: it ended, with its own words."""
    until = time.monotonic() + STARTING
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    words = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    raise RuntimeError(f"Dovecot does not start: {words}")
