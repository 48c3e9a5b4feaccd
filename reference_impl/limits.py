"""Every number the portal holds itself to (chapter "Limits"); times are seconds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    # Stated.
    login_initiations: int = 10
    login_session: float = 300
    mfa_code: float = 300
    mfa_cooldown: float = 60
    access_token: float = 3600
    email_max: int = 255
    password_min: int = 8
    password_max: int = 128
    default_page_size: int = 20
    default_range_days: float = 30

    # Open; a value had to be taken.
    login_window: float = 60
    refresh_token: float = 30 * 86400
    token_leeway: float = 0  # after ``exp``, for clocks that differ
    mfa_code_digits: int = 6
    password_code: float = 900
    secure_session: float = 1800
    secure_key: float = 86400
    max_page_size: int = 100
    max_sessions: int = 50
    max_sessions_settable: int = 1000
    text_max: int = 2000
    list_max: int = 100
    invitation_days: int = 7
    backup_codes: int = 10
    otp_step: float = 30
    otp_drift: int = 1
    body_max: int = 1 << 20
    mails_kept: int = 50
