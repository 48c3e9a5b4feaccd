"""The 88 endpoints by name: the method and path template that reports and profiles call each one by.

In the specification's order (chapter "Endpoints"). No other module writes one of them out.
"""

PORTAL_PATH = "/web/v1/"
"""The beginning of every endpoint's path."""

# Authentication endpoints.
LOGIN_INITIATE = "POST /web/v1/system/auth/login/initiate"
LOGIN_MFA_SEND = "POST /web/v1/system/auth/login/mfa/send"
LOGIN_COMPLETE = "POST /web/v1/system/auth/login/complete"
LOGOUT = "POST /web/v1/system/auth/logout"
TOKEN_REFRESH = "POST /web/v1/system/auth/token/refresh"
PASSWORD_FORGOT = "POST /web/v1/system/auth/password/forgot"
PASSWORD_RESET = "POST /web/v1/system/auth/password/reset"
PASSWORD_INIT = "POST /web/v1/system/auth/password/init"
PASSWORD_CHANGE = "POST /web/v1/system/auth/password/change"

# Secure channel.
PUBLIC_KEY = "GET /web/v1/secure-channel/public-key"
SECURE_SESSION = "POST /web/v1/secure-channel/session"
SECURE_SESSION_CLOSE = "POST /web/v1/secure-channel/session/close"

# Security endpoints.
IP_WHITELIST = "GET /web/v1/system/security/ip-whitelist"
IP_WHITELIST_SET = "POST /web/v1/system/security/ip-whitelist"
IP_WHITELIST_ENABLE = "POST /web/v1/system/security/ip-whitelist/enable"
IP_WHITELIST_DISABLE = "POST /web/v1/system/security/ip-whitelist/disable"
MFA = "GET /web/v1/system/security/mfa"
OTP_SETUP = "POST /web/v1/system/security/mfa/otp/setup"
OTP_VERIFY = "POST /web/v1/system/security/mfa/otp/verify"
OTP_REVOKE = "POST /web/v1/system/security/mfa/otp/revoke"
BACKUP_CODES = "GET /web/v1/system/security/mfa/backup-codes"
BACKUP_CODES_GENERATE = "POST /web/v1/system/security/mfa/backup-codes/generate"
SESSIONS = "GET /web/v1/system/security/sessions"
SESSIONS_CONFIG = "GET /web/v1/system/security/sessions/config"
SESSIONS_CONFIG_SET = "POST /web/v1/system/security/sessions/config"
SESSIONS_HISTORY = "GET /web/v1/system/security/sessions/history"
SESSIONS_TERMINATE = "POST /web/v1/system/security/sessions/terminate"
SESSIONS_TERMINATE_ALL = "POST /web/v1/system/security/sessions/terminate-all"

# Profile and workspaces.
PROFILE = "GET /web/v1/system/profile"
PROFILE_UPDATE = "POST /web/v1/system/profile/update"
OWN_INVITATIONS = "GET /web/v1/system/profile/invitations"
INVITATION_ACCEPT = "POST /web/v1/system/profile/invitations/accept"
INVITATION_DECLINE = "POST /web/v1/system/profile/invitations/decline"
WORKSPACES_CURRENT = "GET /web/v1/system/workspaces/current"
WORKSPACES_MINE = "GET /web/v1/system/workspaces/mine"

# Admin accounts.
ACCOUNTS_QUERY = "POST /web/v1/system/accounts/admin/query"
ACCOUNT = "GET /web/v1/system/accounts/admin/{userBizId}"
ACCOUNT_UPDATE = "POST /web/v1/system/accounts/admin/update"
ACCOUNT_STATUS = "POST /web/v1/system/accounts/admin/status"
ACCOUNT_PASSWORD_RESET = "POST /web/v1/system/accounts/admin/password/reset"

# Constants.
COUNTRIES = "GET /web/v1/system/constants/countries"
TIMEZONES = "GET /web/v1/system/constants/timezones"
US_STATES = "GET /web/v1/system/constants/us-states"
CURRENCY_CONFIG_STATUSES = "GET /web/v1/system/constants/currency-config-statuses"
NOTIFICATION_CHANNEL_STATUSES = "GET /web/v1/system/constants/notification-channel-statuses"
NOTIFICATION_CHANNEL_TYPE_STATUSES = "GET /web/v1/system/constants/notification-channel-type-statuses"
NOTIFICATION_CHANNEL_TYPES = "GET /web/v1/system/constants/notification-channel-types"
ORDER_STATUSES = "GET /web/v1/system/constants/order-statuses"
TRANSFER_STATUSES = "GET /web/v1/system/constants/transfer-statuses"
USER_ACCOUNT_STATUSES = "GET /web/v1/system/constants/user-account-statuses"
USER_INSTITUTION_STATUSES = "GET /web/v1/system/constants/user-institution-statuses"
USER_INSTITUTION_TYPES = "GET /web/v1/system/constants/user-institution-types"
USER_INVITATION_STATUSES = "GET /web/v1/system/constants/user-invitation-statuses"
USER_JOIN_SOURCES = "GET /web/v1/system/constants/user-join-sources"
USER_MFA_METHODS = "GET /web/v1/system/constants/user-mfa-methods"
USER_PERMISSION_STATUSES = "GET /web/v1/system/constants/user-permission-statuses"
USER_PERMISSION_TYPES = "GET /web/v1/system/constants/user-permission-types"
USER_PORTAL_TYPES = "GET /web/v1/system/constants/user-portal-types"
USER_WORKSPACE_STATUSES = "GET /web/v1/system/constants/user-workspace-statuses"
WALLET_STATUSES = "GET /web/v1/system/constants/wallet-statuses"
WORKSPACE_ROLE_TYPES = "GET /web/v1/system/constants/workspace-role-types"

# Currency grants, institutions, invitations.
CURRENCY_GRANTS = "GET /web/v1/system/currency-grants"
CURRENCY_GRANT = "POST /web/v1/system/currency-grants"
CURRENCY_GRANT_REVOKE = "POST /web/v1/system/currency-grants/revoke"
INSTITUTION = "GET /web/v1/system/institutions/{institutionBizId}"
INVITATIONS = "GET /web/v1/system/invitations"
INVITE = "POST /web/v1/system/invitations"
INVITATION_CANCEL = "POST /web/v1/system/invitations/cancel"

# Notifications.
CHANNEL_TYPES_QUERY = "POST /web/v1/system/notifications/channel-types/query"
CHANNEL_TYPE_CREATE = "POST /web/v1/system/notifications/channel-types/create"
CHANNEL_TYPE_UPDATE = "POST /web/v1/system/notifications/channel-types/update"
CHANNEL_TYPE_DELETE = "POST /web/v1/system/notifications/channel-types/delete"
CHANNEL_TYPE_ENABLE = "POST /web/v1/system/notifications/channel-types/enable"
CHANNEL_TYPE_DISABLE = "POST /web/v1/system/notifications/channel-types/disable"
CHANNELS_QUERY = "POST /web/v1/system/notifications/channels/query"
CHANNEL_CREATE = "POST /web/v1/system/notifications/channels/create"
CHANNEL_UPDATE = "POST /web/v1/system/notifications/channels/update"
CHANNEL_DELETE = "POST /web/v1/system/notifications/channels/delete"
CHANNEL_ACTIVATE = "POST /web/v1/system/notifications/channels/activate"
CHANNEL_DEACTIVATE = "POST /web/v1/system/notifications/channels/deactivate"
EMAIL_VALIDATE_IMAP = "POST /web/v1/system/notifications/email/validate/imap"
EMAIL_VALIDATE_SMTP = "POST /web/v1/system/notifications/email/validate/smtp"
CHANNEL_COMMAND_DEACTIVATE = "POST /web/v1/notification-channels/command/deactivate"

# Roles.
ROLES = "GET /web/v1/system/roles"
ROLE = "GET /web/v1/system/roles/{roleBizId}"
ROLE_PERMISSIONS = "GET /web/v1/system/roles/{roleBizId}/permissions"

# Files.
FILE = "GET /web/v1/system/files/{fileBizId}"

# Transfer orders.
TRANSFER_ORDERS = "GET /web/v1/admin/transfer/query/orders/workspace/{workspaceId}"

MAILING = frozenset({LOGIN_MFA_SEND, PASSWORD_FORGOT, INVITE})
"""Those whose success has the portal send a mail."""
