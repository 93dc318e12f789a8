"""Secrets, the sentences around them, and texts that only look alike, made at run time from a seed.

No literal here is a key: every secret is put together from random characters. HELD_OUT are the
formats for which the lexicon has no pattern of its own, only the general ones; they are a third
of all and stand for the issuers of next year.
"""

# ruff: noqa: E501
import random
import string

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
HEX, BASE62 = "0123456789abcdef", string.ascii_letters + string.digits
URLSAFE = BASE62 + "-_"


def some(rng, alphabet, n):
    return "".join(rng.choice(alphabet) for _ in range(n))


def mixed(rng, alphabet, n):
    """Random characters with at least one of each class, as issuers make them."""
    return (
        some(rng, LOWER, 1)
        + some(rng, alphabet, n - 3)
        + some(rng, DIGITS, 1)
        + some(rng, UPPER, 1)
    )


def prefixed(prefix, alphabet, n, suffix=""):
    return lambda rng: (
        prefix + (mixed if alphabet in (BASE62, URLSAFE) else some)(rng, alphabet, n) + suffix
    )


def dotted(*parts):
    return lambda rng: ".".join(mixed(rng, URLSAFE, n) for n in parts)


def jwt(rng):
    return ".".join(
        ("ey" + mixed(rng, BASE62, 34), "ey" + mixed(rng, BASE62, 60), mixed(rng, URLSAFE, 43))
    )


def luhn(rng):
    body = rng.choice(["4", "51", "55", "62", "37"]) + some(rng, DIGITS, 20)
    body = body[: 14 if body.startswith("37") else 15]
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(body)))
    return body + str(-total % 10)


def identity(rng):
    body = f"{rng.randint(11, 65)}0101{rng.randint(1950, 2009)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}{some(rng, DIGITS, 3)}"
    total = sum(int(d) * pow(2, 17 - i, 11) for i, d in enumerate(body))
    return body + "10X98765432"[total % 11]


def pem(label):
    def make(rng):
        lines = "\n".join(mixed(rng, BASE62 + "+/", 64) for _ in range(3))
        return f"-----BEGIN {label}PRIVATE KEY-----\n{lines}\n-----END {label}PRIVATE KEY-----"

    return make


def password(rng):
    return (
        some(rng, BASE62, 6) + rng.choice("!@#$%^&*") + some(rng, DIGITS, 2) + some(rng, LOWER, 2)
    )


def phrase(rng):
    words = [
        "abandon",
        "brick",
        "cactus",
        "dinosaur",
        "elder",
        "fabric",
        "gallery",
        "harvest",
        "island",
    ]
    return " ".join(rng.choice(words) for _ in range(12))


TOKENS = {
    "aws": prefixed("AKIA", UPPER + DIGITS, 16), "aws-session": prefixed("ASIA", UPPER + DIGITS, 16),
    "alibaba": prefixed("LTAI", BASE62, 20), "tencent": prefixed("AKID", BASE62, 32),
    "google": prefixed("AIza", URLSAFE, 35), "google-oauth": prefixed("GOCSPX-", URLSAFE, 28),
    "github": prefixed("ghp_", BASE62, 36), "github-fine": prefixed("github_pat_", BASE62 + "_", 60),
    "github-app": prefixed("ghs_", BASE62, 36), "gitlab": prefixed("glpat-", URLSAFE, 20),
    "npm": prefixed("npm_", BASE62, 36), "pypi": prefixed("pypi-AgEIcHlwaS5vcmc", URLSAFE, 80),
    "docker": prefixed("dckr_pat_", URLSAFE, 27), "openai": prefixed("sk-", BASE62, 48),
    "openai-project": prefixed("sk-proj-", URLSAFE, 60), "anthropic": prefixed("sk-ant-api03-", URLSAFE, 80),
    "deepseek": prefixed("sk-", HEX, 32), "hugging-face": prefixed("hf_", BASE62, 34),
    "groq": prefixed("gsk_", BASE62, 52), "tavily": prefixed("tvly-", BASE62, 32),
    "zhipu": lambda rng: some(rng, HEX, 32) + "." + mixed(rng, BASE62, 16),
    "replicate": prefixed("r8_", BASE62, 37), "slack-bot": lambda rng: f"xoxb-{some(rng, DIGITS, 12)}-{some(rng, DIGITS, 12)}-{mixed(rng, BASE62, 24)}",
    "telegram": lambda rng: some(rng, "123456789", 10) + ":AA" + mixed(rng, URLSAFE, 33),
    "discord": lambda rng: "M" + mixed(rng, BASE62, 25) + "." + mixed(rng, BASE62, 6) + "." + mixed(rng, URLSAFE, 38),
    "dingtalk": prefixed("SEC", HEX, 64), "serverchan": lambda rng: "SCT" + some(rng, DIGITS, 6) + "T" + mixed(rng, BASE62, 24),
    "stripe": prefixed("sk_live_", BASE62, 24), "stripe-hook": prefixed("whsec_", BASE62, 32),
    "sendgrid": lambda rng: "SG." + mixed(rng, URLSAFE, 22) + "." + mixed(rng, URLSAFE, 43),
    "mailgun": prefixed("key-", HEX, 32), "jwt": jwt,
    "openssh": pem("OPENSSH "), "rsa": pem("RSA "), "pkcs8": pem(""),
}  # fmt: skip

HELD_OUT = {
    "linear": prefixed("lin_api_", BASE62, 40), "digitalocean": prefixed("dop_v1_", HEX, 64),
    "shopify": prefixed("shpat_", HEX, 32), "grafana": prefixed("glsa_", BASE62, 32, "_1a2b3c4d"),
    "figma": prefixed("figd_", URLSAFE, 40), "supabase": prefixed("sbp_", HEX, 40),
    "databricks": prefixed("dapi", HEX, 32), "planetscale": prefixed("pscale_tkn_", URLSAFE, 43),
    "new-relic": prefixed("NRAK-", UPPER + DIGITS, 27), "postman": lambda rng: "PMAK-" + some(rng, HEX, 24) + "-" + some(rng, HEX, 34),
    "notion": prefixed("ntn_", BASE62, 46), "netlify": prefixed("nfp_", BASE62, 36),
    "pulumi": prefixed("pul-", HEX, 40), "doppler": prefixed("dp.pt.", BASE62, 43),
    "vault": prefixed("hvs.", URLSAFE, 90), "dropbox": prefixed("sl.", URLSAFE, 130),
    "atlassian": prefixed("ATATT3xFfGF0", URLSAFE, 120), "facebook": prefixed("EAAC", BASE62, 100),
    "mapbox": lambda rng: "sk." + mixed(rng, BASE62, 60) + "." + mixed(rng, URLSAFE, 22),
    "airtable": lambda rng: "pat" + mixed(rng, BASE62, 14) + "." + some(rng, HEX, 64),
    "sentry": prefixed("sntrys_", BASE62, 80), "volcengine": lambda rng: mixed(rng, BASE62, 40),
}  # fmt: skip

SAID = {
    "password": password, "letters": lambda rng: some(rng, "bcdfghjklmnpqrstvwxz", 16),
}  # fmt: skip

TOKEN_CONTEXTS = (
    "The {name} token is {s}", "{name} API key: {s}", "export {NAME}_TOKEN={s}", '"apiKey": "{s}"',
    "User pasted {s} into the chat.", "use {s} when calling {name}", "key = {s} (rotate in May)",
    "Remember my {name} credential for later: {s}", "secret={s}&mode=fast", "Authorization: Bearer {s}",
    "The old {name} key was {s}, the new one is in the vault.", "token `{s}` expires soon", "({s})",
    "{name} 的密钥是 {s}。", "令牌：{s}", "用户发来 {s}，让我保存", "把 {s} 配到 {name} 的设置里",
    "{name} token 换成了 {s}，旧的作废", "访问凭证（测试环境）：{s}", "请记住这个 key：{s}", "密钥={s}；有效期一年",
    "用这个 API key {s} 调 {name} 接口", "config 里的 access token：{s}，别外传", "deploy 用的 secret 是「{s}」", "{name}: {s}，production 用",
)  # fmt: skip

SAID_CONTEXTS = (
    "password={s}", "Password: {s}", "the wifi password is {s}", "DB_PASSWORD={s}", 'passwd: "{s}"',
    "pwd={s};", "The password for the NAS is {s}.", "password to staging: {s}", "passphrase: {s}",
    "mysql -u root --password={s} -h db", "My password was changed to {s} today.", "user admin, pass: {s}",
    "密码是 {s}", "密码：{s}", "路由器密码为{s}，别外传", "邮箱授权码：{s}", "口令: {s}", "数据库密码改成了 {s}",
    "密码（管理员）：{s}", "wifi 密码 = {s}", "QQ 邮箱的授权码是 {s}。", "staging 的 password 是：{s}", "登录密码已改为 {s}", "旧口令是{s}，已停用", "NAS password：{s}，记一下",
)  # fmt: skip

OTHERS = {
    "card": (luhn, ("card {s}", "Visa {s} exp 04/29", "my card number is {s}", "信用卡 {s}", "银行卡号：{s}", "用 {s} 付款")),
    "identity": (identity, ("身份证 {s}", "身份证号：{s}", "id number {s}", "乘机人 {s} 已登记", "my ID card number is {s}")),
    "seed": (phrase, ("seed phrase: {s}", "助记词：{s}", "my wallet recovery phrase is {s}", "mnemonic = {s}")),
    "code": (lambda rng: some(rng, DIGITS, 6), ("验证码 {s}，五分钟内有效", "验证码：{s}", "verification code is {s}", "PIN: {s}", "OTP is {s}")),
    "url": (password, ("postgres://app:{s}@db.example/orders", "redis://:{s}@cache.example:6379/0", "https://ops:{s}@git.example/x.git", "mysql://root:{s}@10.0.0.7:3306/prod 先存着")),
    "cookie": (lambda rng: some(rng, HEX, 32), ("Cookie: session={s}; Path=/", "Set-Cookie: sid={s}; HttpOnly", "浏览器里的 Cookie: token={s}")),
    "hook": (lambda rng: f"T{mixed(rng, UPPER + DIGITS, 8)}/B{mixed(rng, UPPER + DIGITS, 8)}/{mixed(rng, BASE62, 24)}", ("https://hooks.slack.com/services/{s}", "群机器人 https://hooks.slack.com/services/{s} 用于告警")),
    "azure": (lambda rng: mixed(rng, BASE62 + "+/", 86) + "==", ("AccountKey={s};EndpointSuffix=core.windows.net", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={s}")),
    "aws-secret": (lambda rng: mixed(rng, BASE62 + "+/", 40), ("aws_secret_access_key = {s}", "Secret access key: {s}", "AWS_SECRET_ACCESS_KEY={s}")),
}  # fmt: skip

NAMES = ("Acme", "gateway", "报表服务", "Nova", "staging", "summariser", "监控")


def secrets(formats, contexts, seed=1):
    """Rows (format, text, secret): every format in every context."""
    rng = random.Random(seed)
    return [
        (name, context.format(s=value, name=who, NAME="ACME"), value)
        for name, make in formats.items()
        for context in contexts
        for value, who in [(make(rng), rng.choice(NAMES))]
    ]


def everything(seed=1):
    """Every known format in 25 contexts (those with their own sentences in 25 rounds of them)."""
    rows = secrets(TOKENS, TOKEN_CONTEXTS, seed) + secrets(SAID, SAID_CONTEXTS, seed)
    for name, (make, contexts) in OTHERS.items():
        for turn in range(-(-25 // len(contexts))):
            rows += secrets({name: make}, contexts, seed + turn)
    return rows


def lookalikes(n, seed=2):
    """Texts without a secret: words about secrets, identifiers, hashes, placeholders, code."""
    rng = random.Random(seed)
    hashes = {
        "h40": (HEX, 40),
        "h64": (HEX, 64),
        "h32": (HEX, 32),
        "h8": (HEX, 8),
        "n": (DIGITS, 4),
        "n6": (DIGITS, 6),
    }
    out = []
    for _ in range(n):
        text = rng.choice(BENIGN)
        for mark, (alphabet, size) in hashes.items():
            text = text.replace("{" + mark + "}", some(rng, alphabet, size))
        uuid = "-".join(some(rng, HEX, size) for size in (8, 4, 4, 4, 12))
        out.append(text.replace("{uuid}", uuid).replace("{name}", rng.choice(NAMES)))
    return out


BENIGN = (
    "The task-list view and the risk-averse plan were approved for {name}.", "Ticket ASK-{n} is about the desk-booking widget.",
    "Commit {h40} fixed the pager flake.", "commit {h8} reverted {h8}", "docker pull {name}@sha256:{h64}", "The image digest is {h64}.", "md5: {h32}  release.tar.gz",
    "Request id {uuid} timed out.", "Session {uuid} was archived.", "the record key core_{uuid} was merged", "trace {h32} shows the slow query", "The primary key is user_{n6}_{h8}.",
    "Set api_key=<your-key> before the first run.", "export {name}_TOKEN=your-token-here", "password: <password>", "token=${ACME_TOKEN}", "Authorization: Bearer <token>", "password=********", "api_key: xxxxxxxxxxxxxxxx",
    "Password rotates every 30 days.", "The password is required and must have 12 characters.", "password: stored in 1Password", "The password is case-sensitive.", "The password was reset on Friday.", "password manager: Bitwarden", "passwords are hashed with bcrypt", "password = getpass()", "password = os.environ['DB_PASSWORD']", "if password is None: raise ValueError", "The token expires in 15 minutes.", "Tokens are counted per {n} characters.", "The API key lives in the vault.", "A secret is a small thing, said {name}.", "The key result of Q{n} is revenue.", "keyboard shortcuts: ctrl-k {n}", "The monkey-patch in token_count_v2 was removed.",
    "密码每三十天轮换一次", "密码长度至少 12 位，需包含数字", "讨论了如何防止 token 泄露的培训材料", "密码保存在 1Password 里", "验证码有效期 5 分钟", "密钥轮换计划第 {n} 版", "授权码请到邮箱设置里生成", "口令管理规范已发布", "令牌桶限流设为每秒 {n} 次", "忘记密码时走重置流程", "身份证复印件已寄出", "订单号 20260{n6}{n6}{n}", "快递单号 SF{n6}{n6}", "密码：见保险库", "密码是必填项", "导出报表功能上线，支持 CSV 和 XLSX",
    "Build 2026.{n} took {n} s on node-{n}.", "order number 4{n6}{n6}{n} was shipped", "Invoice 2026-{n6} is paid.", "The backup s3://acme-prod/db/2026-05-{n}.sql.gz is complete.", "see https://docs.example/guide/auth#bearer-tokens-{n}", "open https://git.example/acme/app/commit/{h40}", "https://example.com/watch?v={h8}&t={n}", "git clone git@github.com:acme/app-{n}.git", "ssh://git@git.example:2222/acme/app.git", "postgres://localhost:5432/acme_{n}", "redis://cache.example:6379/0", "mailto:ops@example.com", "http://127.0.0.1:8080/@admin/{n}",
    "run-20261105-08{n6}-{h8} finished", "chatcmpl-{h32} returned {n} tokens", "file thumb_{h32}.png was uploaded", "sha512-{h64}", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 is the public key of {name}", "Version 3.{n}.0-beta+{h8} is out.", "latency p99 {n} ms, p50 {n} ms", "MAC 00:1b:44:11:3a:b7 on port {n}", "IPv6 2001:db8:85a3::8a2e:370:{n}", "ISBN 978-3-16-148410-0", "The seed of the random generator is {n}.", "The recovery phase of the project starts in May and everybody will take part in it.", "timestamp 17{n6}{n6}", "The PIN connector has {n} contacts.", "zip code 10115, room {n}", "code review {n6} is open", "The pass rate is {n}%.", "compass=north", "bypass: enabled", "Cookie banner text was approved.", "cookies are cleared on logout", "basic authentication is off", "bearer of the news: {name}", "ACME_BASE_URL=https://api.example/v{n}", "LOG_LEVEL=debug FEATURE_NEW_CHECKOUT_FLOW_ENABLED_{n}=true", "getUserAuthenticationTokenFromRequestHeaderV2 was renamed", "calculate_quarterly_revenue_for_region_{n}_v2", "GTE-Qwen2-7B-instruct-v1-{n} was benchmarked", "meta-llama/Llama-3.1-{n}B-Instruct", "2026-05-04T10:11:12.{n6}Z started", "The wifi is slow in room {n}.",
)  # fmt: skip
