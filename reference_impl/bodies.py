"""What each endpoint takes, by chapter; fields the specification does not show are this portal's (N1, N6)."""

from reference_impl.shapes import (
    Shape,
    address,
    allowed,
    anything,
    coded,
    email,
    flag,
    instant_sent,
    integer,
    needed,
    nested,
    nullable,
    number_sent,
    numbers_sent,
    password,
    text,
    text_sent,
    texts,
)

_ID = text(least=1, most=128)
_NAME = text(least=1, most=128)

# Authentication
LOGIN_INITIATE = Shape({"email": needed(address), "password": needed(password)}, strict=True)
MFA_SEND = Shape({"sessionId": needed(_ID), "method": needed(integer())})
LOGIN_COMPLETE = Shape(
    {"sessionId": needed(_ID), "method": needed(integer()), "code": needed(text(least=1, most=64))}
)
TOKEN_REFRESH = Shape({"refreshToken": needed(text(least=1))})
PASSWORD_FORGOT = Shape({"email": needed(address), "turnstileToken": allowed(text())})
PASSWORD_BY_CODE = Shape(
    {"email": needed(address), "code": needed(text(least=1, most=64)), "newPassword": needed(password)}
)
PASSWORD_CHANGE = Shape({"oldPassword": needed(password), "newPassword": needed(password)})

# Secure channel
SECURE_SESSION = Shape(
    {"keyId": needed(text(least=1)), "encReqKey": needed(text(least=1)), "encRespKey": needed(text(least=1))}
)
SECURE_SESSION_CLOSE = Shape({"sessionId": allowed(_ID)})

# Security
IP_WHITELIST = Shape({"ips": needed(texts)})
OTP_VERIFY = Shape({"code": needed(text(least=1, most=16))})
SESSIONS_CONFIG = Shape({"maxConcurrentSessions": needed(integer(least=1))})
HISTORY = Shape({"page": allowed(number_sent), "pageSize": allowed(number_sent)})
SESSION_TERMINATE = Shape({"sessionId": needed(_ID)})

# Profile and workspaces
_LANGUAGE = text(like=r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", most=16)
_TIMEZONE = text(like=r"[A-Za-z0-9_+/:-]+", most=64)
_COUNTRY = text(like=r"[A-Z]{2}")
_PHONE = text(like=r"[0-9+() .-]*", most=32)
PROFILE_UPDATE = Shape(
    {
        "accountName": allowed(_NAME),
        "accountPhone": allowed(_PHONE),
        "defaultLanguage": allowed(_LANGUAGE),
        "defaultTimezone": allowed(_TIMEZONE),
        "defaultCountry": allowed(_COUNTRY),
    }
)
STATUSES = Shape({"statuses": allowed(numbers_sent)})
INVITATION_ACCEPT = Shape({"invitationBizId": needed(_ID)})
INVITATION_CLOSE = Shape({"invitationBizId": needed(_ID), "reason": nullable(text())})

# Admin accounts
ACCOUNTS_QUERY = Shape(
    {
        "institutionBizId": nullable(text()),
        "accountPortal": nullable(coded),
        "accountStatus": nullable(coded),
        "email": nullable(text()),
        "name": nullable(text()),
        "page": nullable(integer()),
        "size": nullable(integer()),
    }
)
ACCOUNT_UPDATE = Shape({"userBizId": needed(_ID), "accountRemark": nullable(text()), **PROFILE_UPDATE.fields})
ACCOUNT_STATUS = Shape({"userBizId": needed(_ID), "accountStatus": needed(coded)})
ACCOUNT_PASSWORD_RESET = Shape({"userBizId": needed(_ID), "newPassword": allowed(password)})

# What is named by its id alone
BY_ID = Shape({"bizId": needed(_ID)})

# Currency grants, institutions, invitations
GRANT_CREATE = Shape({"currencyCode": needed(text(like=r"[A-Z]{3,8}")), "workspaceBizId": nullable(_ID)})
INVITATION_CREATE = Shape(
    {
        "inviteeEmail": needed(email),
        "message": nullable(text()),
        "expirationDays": nullable(integer(least=1, most=365)),
    }
)

# Notifications
_PAGE = {"page": nullable(integer()), "pageSize": nullable(integer())}
TYPES_QUERY = Shape(
    {
        "bizId": nullable(text()),
        "typeCode": nullable(text()),
        "typeStatus": nullable(coded),
        "enabledOnly": nullable(flag),
        **_PAGE,
    }
)
_TYPE = {
    "typeName": allowed(_NAME),
    "typeDescription": allowed(text()),
    "displayOrder": allowed(integer(least=0)),
    "iconUrl": nullable(text()),
    "extraConfig": nullable(anything),
}
TYPE_CREATE = Shape({"typeCode": needed(_NAME), **_TYPE, "typeName": needed(_NAME)})
TYPE_UPDATE = Shape({"bizId": needed(_ID), **_TYPE})
CHANNELS_QUERY = Shape(
    {
        "bizId": nullable(text()),
        "institutionBizId": nullable(text()),
        "channelCategory": nullable(coded),
        "channelStatus": nullable(coded),
        "activeOnly": nullable(flag),
        **_PAGE,
    }
)
_PORT = integer(least=1, most=65535)
_WAIT = integer(least=0, most=600_000)
EMAIL_CONFIG = Shape(
    {
        "smtpHost": allowed(text(least=1, most=255)),
        "smtpPort": allowed(_PORT),
        "senderEmail": allowed(email),
        "senderName": allowed(text(most=128)),
        "username": allowed(text(most=255)),
        "password": allowed(text(most=255)),
        "useSsl": allowed(flag),
        "useStartTls": allowed(flag),
        "connectionTimeout": allowed(_WAIT),
        "readTimeout": allowed(_WAIT),
    }
)
_CHANNEL = {
    "channelName": allowed(_NAME),
    "channelRemark": nullable(text()),
    "channelHost": allowed(text(least=1, most=255)),
    "emailConfig": allowed(nested(EMAIL_CONFIG)),
}
CHANNEL_CREATE = Shape(
    {
        **_CHANNEL,
        "channelName": needed(_NAME),
        "channelHost": needed(text(least=1, most=255)),
        "channelCategory": needed(text(like="EMAIL")),
        "institutionBizId": nullable(_ID),
    }
)
CHANNEL_UPDATE = Shape({"bizId": needed(_ID), **_CHANNEL})
MAIL_SERVER = Shape(
    {
        "host": needed(text(like=r"[A-Za-z0-9.:-]+", most=255)),
        "port": needed(_PORT),
        "username": needed(text(least=1, most=255)),
        "password": needed(text(least=1, most=255)),
        "useSsl": allowed(flag),
    }
)

# Transfer orders
ORDERS = Shape(
    {
        "startTime": allowed(instant_sent),
        "endTime": allowed(instant_sent),
        "page": allowed(number_sent),
        "size": allowed(number_sent),
        "sort": allowed(text_sent),
    }
)
