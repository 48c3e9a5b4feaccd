"""What an error says to a person, by code and language (header ``Accept-Language``)."""

from collections.abc import Sequence

LANGUAGES = ("en", "zh", "zh-Hant", "ja", "vi")

_TEXTS: dict[str, Sequence[str]] = {
    "AUTH.INVALID_CREDENTIALS": (
        "The email address or the password is wrong.",
        "邮箱或密码错误。",
        "電子郵件或密碼錯誤。",
        "メールアドレスまたはパスワードが違います。",
        "Email hoặc mật khẩu không đúng.",
    ),
    "AUTH.SESSION_NOT_FOUND": (
        "This session is not known, or has ended.",
        "会话不存在或已结束。",
        "工作階段不存在或已結束。",
        "セッションが見つからないか、終了しています。",
        "Phiên không tồn tại hoặc đã kết thúc.",
    ),
    "AUTH.MFA_SEND_COOLDOWN": (
        "A code was sent a moment ago. Wait before asking for another.",
        "验证码刚刚发送，请稍候再试。",
        "驗證碼剛剛傳送，請稍候再試。",
        "コードは送信済みです。しばらくお待ちください。",
        "Mã vừa được gửi. Vui lòng đợi trước khi yêu cầu mã khác.",
    ),
    "AUTH.MFA_CODE_INVALID": (
        "The code is wrong or too old.",
        "验证码错误或已过期。",
        "驗證碼錯誤或已過期。",
        "コードが違うか、期限が切れています。",
        "Mã không đúng hoặc đã hết hạn.",
    ),
    "ACCOUNT_PENDING_APPROVAL": (
        "The account awaits approval.",
        "账户正在等待审批。",
        "帳戶正在等待核准。",
        "アカウントは承認待ちです。",
        "Tài khoản đang chờ phê duyệt.",
    ),
    "VALIDATION.INVALID_PARAMETER": (
        "A parameter is missing or invalid.",
        "参数缺失或无效。",
        "參數缺失或無效。",
        "パラメータが不足しているか、無効です。",
        "Thiếu tham số hoặc tham số không hợp lệ.",
    ),
    "ACCESS.TOKEN_MISSING": (
        "An access token is required.",
        "需要访问令牌。",
        "需要存取權杖。",
        "アクセストークンが必要です。",
        "Cần có mã truy cập.",
    ),
    "ACCESS.PERMISSION_DENIED": (
        "You may not do this.",
        "没有权限。",
        "沒有權限。",
        "権限がありません。",
        "Bạn không có quyền.",
    ),
    "RESOURCE.NOT_FOUND": (
        "There is nothing of that id.",
        "资源不存在。",
        "資源不存在。",
        "リソースが見つかりません。",
        "Không tìm thấy tài nguyên.",
    ),
    "GA2031": ("GA2031",) * 5,
    "4000": (
        "The request is invalid.",
        "请求无效。",
        "請求無效。",
        "リクエストが無効です。",
        "Yêu cầu không hợp lệ.",
    ),
    "4010": (
        "The access token is invalid or has expired.",
        "访问令牌无效或已过期。",
        "存取權杖無效或已過期。",
        "アクセストークンが無効か、期限切れです。",
        "Mã truy cập không hợp lệ hoặc đã hết hạn.",
    ),
    "4030": (
        "The bot challenge was not passed.",
        "人机验证失败。",
        "人機驗證失敗。",
        "ボット検証に失敗しました。",
        "Xác minh chống bot thất bại.",
    ),
    "4040": (
        "There is no such channel.",
        "渠道不存在。",
        "通道不存在。",
        "チャネルが見つかりません。",
        "Không tìm thấy kênh.",
    ),
    "ACCESS.PORTAL_MISMATCH": (
        "This request did not come in through the right portal.",
        "门户不匹配。",
        "入口不符。",
        "ポータルが一致しません。",
        "Cổng không khớp.",
    ),
    "RATE_LIMIT.EXCEEDED": (
        "Too many requests. Try again later.",
        "请求过多，请稍后再试。",
        "請求過多，請稍後再試。",
        "リクエストが多すぎます。後でもう一度お試しください。",
        "Quá nhiều yêu cầu. Vui lòng thử lại sau.",
    ),
    "INVITATION.NOT_OPEN": (
        "This invitation is no longer open.",
        "邀请已失效。",
        "邀請已失效。",
        "この招待は無効です。",
        "Lời mời không còn hiệu lực.",
    ),
    "MFA.LAST_FACTOR": (
        "An account needs a second factor.",
        "账户至少需要一种验证方式。",
        "帳戶至少需要一種驗證方式。",
        "アカウントには第二要素が必要です。",
        "Tài khoản cần một yếu tố thứ hai.",
    ),
    "RESOURCE.DUPLICATE": (
        "This already exists.",
        "资源已存在。",
        "資源已存在。",
        "すでに存在します。",
        "Đã tồn tại.",
    ),
    "METHOD_NOT_ALLOWED": (
        "This method is not offered here.",
        "不支持该方法。",
        "不支援該方法。",
        "このメソッドは使用できません。",
        "Phương thức không được hỗ trợ.",
    ),
}

TEXTS: dict[tuple[str, str], str] = {
    (code, language): text
    for code, texts in _TEXTS.items()
    for language, text in zip(LANGUAGES, texts, strict=True)
}

_TAGS = {tag.lower(): tag for tag in LANGUAGES} | {"zh-tw": "zh-Hant", "zh-hk": "zh-Hant", "zh-cn": "zh"}


def message(code: str, language: str) -> str:
    return TEXTS.get((code, language)) or TEXTS.get((code, "en")) or code


def preferred(accept_language: str | None) -> str:
    """The supported language that the header ranks first, or the default."""
    if not accept_language:
        return "en"
    ranked = sorted(accept_language.split(","), key=_weight, reverse=True)
    return next((tag for tag in map(_supported, ranked) if tag), "en")


def _supported(item: str) -> str | None:
    tag = item.split(";")[0].strip().lower()
    return _TAGS.get(tag) or _TAGS.get(tag.split("-")[0])


def _weight(item: str) -> float:
    _, _, weight = item.partition(";q=")
    try:
        return float(weight) if weight else 1.0
    except ValueError:
        return 0.0
