// A small client: signs in by a mailed code, then opens one page after the other. `window.portal` says what a
// deployment would build into it: the access code, the bot challenge's token, the id of a file.

import { openChannel, sealed } from "./channel.js";

const SYSTEM = "/web/v1/system";
const EMAIL = 10011001;
const CONSTANTS = [
  "countries", "timezones", "us-states", "currency-config-statuses", "notification-channel-statuses",
  "notification-channel-type-statuses", "notification-channel-types", "order-statuses", "transfer-statuses",
  "user-account-statuses", "user-institution-statuses", "user-institution-types", "user-invitation-statuses",
  "user-join-sources", "user-mfa-methods", "user-permission-statuses", "user-permission-types",
  "user-portal-types", "user-workspace-statuses", "wallet-statuses", "workspace-role-types",
];
const SERVER = { username: "client", password: "mail-of-the-client", useSsl: true };
const state = {};

/** One request; its envelope. */
async function exchange(method, path, body, headers = {}) {
  const answer = await fetch(path, {
    method,
    headers: {
      "X-PORTAL-ACCESS-CODE": window.portal.accessCode,
      "X-Client-Hash": state.hash ??= crypto.randomUUID(),
      "X-Request-Id": crypto.randomUUID(),
      "X-LOCALE": "en",
      ...(state.token && { Authorization: `Bearer ${state.token}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return answer.json();
}

/** One request that is to succeed; its data. */
async function call(...sent) {
  const envelope = await exchange(...sent);
  if (!envelope.success) throw new Error(`${sent[0]} ${sent[1]}: ${envelope.code} ${envelope.message}`);
  return envelope.data;
}

const get = (path) => call("GET", SYSTEM + path);
const post = (path, body = {}) => call("POST", SYSTEM + path, body);
const challenged = () => ({ [window.portal.botHeader]: window.portal.botToken });
const refused = (method, path, body) => exchange(method, SYSTEM + path, body);

async function signIn({ email, password }) {
  const begun = await refused("POST", "/auth/login/initiate", { email, password });
  if (!begun.success) return begun.code;
  state.session = begun.data.sessionId;
  await post("/auth/login/mfa/send", { sessionId: state.session, method: EMAIL });
  document.querySelector("#confirm").hidden = false;
  return "A code was mailed";
}

async function confirm({ code, method }) {
  const sent = { sessionId: state.session, method: Number(method), code };
  const done = await refused("POST", "/auth/login/complete", sent);
  if (!done.success) return done.code;
  state.token = done.data.accessToken;
  state.refresh = done.data.refreshToken;
  for (const part of ["#pages", "#password"]) document.querySelector(part).hidden = false;
  return "Signed in";
}

/** Through the secure channel, opened for it. */
async function changePassword({ oldPassword, newPassword }) {
  const channel = await openChannel(call);
  const body = await sealed(channel, { oldPassword, newPassword });
  const named = { "X-Secure-Channel-Session-Id": channel.sessionId };
  await call("POST", `${SYSTEM}/auth/password/change`, body, named);
  await call("POST", "/web/v1/secure-channel/session/close", { sessionId: channel.sessionId }, named);
  return "Password changed";
}

const pages = {
  async Home() {
    const [, workspace] = await Promise.all([get("/profile"), get("/workspaces/current")]);
    await get("/workspaces/mine");
    await get(`/institutions/${workspace.institutionBizId}`);
    await get("/profile/invitations?statuses=10050301&statuses=10050302");
    state.workspace = workspace;
  },
  async Profile() {
    const own = await get("/profile");
    const { accountName, accountPhone, defaultLanguage, defaultTimezone, defaultCountry } = own;
    const shown = { accountName, accountPhone, defaultLanguage, defaultTimezone, defaultCountry };
    await post("/profile/update", { ...shown, accountName: "Renamed by a client", defaultTimezone: "Asia/Tokyo" });
    await get("/profile");
    await post("/profile/update", shown);
    await refused("POST", "/profile/update", { accountName: 7 });
  },
  async Security() {
    await Promise.all([get("/security/mfa"), get("/security/sessions"), get("/security/ip-whitelist")]);
    const { maxSessions } = await get("/security/sessions/config");
    await post("/security/sessions/config", { maxConcurrentSessions: maxSessions });
    await get("/security/sessions/history?page=1&pageSize=3");
    await post("/security/ip-whitelist", { ips: ["203.0.113.0/24", "127.0.0.1"] });
    await post("/security/ip-whitelist/enable");
    await post("/security/ip-whitelist/disable");
    await post("/security/ip-whitelist", { ips: [] });
    await get("/security/mfa/backup-codes");
    await post("/security/mfa/backup-codes/generate");
  },
  async Accounts() {
    const filters = { institutionBizId: null, accountPortal: null, accountStatus: null, email: null, name: null };
    for (const page of [0, 1]) await post("/accounts/admin/query", { ...filters, page, size: 4 });
    const { accounts } = await post("/accounts/admin/query", { ...filters, email: "guest", page: 0, size: 5 });
    const all = await post("/accounts/admin/query", { ...filters, page: 0, size: 100 });
    for (const one of [...accounts, ...all.accounts].slice(0, 3)) await get(`/accounts/admin/${one.bizId}`);
    await refused("GET", "/accounts/admin/does-not-exist");
    const other = all.accounts.find((one) => one.accountStatus.code === "ACTIVE" && one.accountName.length > 8);
    if (!other) return;
    await post("/accounts/admin/update", { userBizId: other.bizId, accountRemark: "Seen by a client" });
    await get(`/accounts/admin/${other.bizId}`);
    await post("/accounts/admin/update", { userBizId: other.bizId, accountRemark: other.accountRemark });
  },
  async Roles() {
    for (const role of (await get("/roles")).slice(0, 3)) {
      await get(`/roles/${role.bizId}`);
      await get(`/roles/${role.bizId}/permissions`);
    }
  },
  async Lists() {
    await Promise.all(CONSTANTS.map((list) => get(`/constants/${list}`)));
  },
  async Types() {
    const base = "/notifications/channel-types";
    const { bizId } = await post(`${base}/create`, { typeCode: "client-type", typeName: "Of a client" });
    await post(`${base}/update`, { bizId, typeName: "Another name" });
    await post(`${base}/disable`, { bizId });
    await post(`${base}/query`, { bizId });
    await post(`${base}/enable`, { bizId });
    await post(`${base}/query`, { enabledOnly: true });
    await post(`${base}/delete`, { bizId });
    await refused("POST", `${base}/delete`, { bizId });
  },
  async Channels() {
    const base = "/notifications/channels";
    const emailConfig = {
      smtpHost: "smtp.example.test", smtpPort: 587, senderEmail: "client@example.test", senderName: "Client",
      username: "client", password: "mail-of-the-client", useSsl: false, useStartTls: true,
      connectionTimeout: 5000, readTimeout: 5000,
    };
    const made = { channelName: "Of a client", channelHost: "smtp.example.test", channelCategory: "EMAIL" };
    const { bizId } = await post(`${base}/create`, { ...made, emailConfig });
    await post(`${base}/update`, { bizId, channelName: "Another name" });
    await post(`${base}/deactivate`, { bizId });
    await post(`${base}/query`, { bizId, activeOnly: false });
    await post(`${base}/activate`, { bizId });
    await call("POST", "/web/v1/notification-channels/command/deactivate", { bizId }, challenged());
    await post(`${base}/delete`, { bizId });
    await post(`${base}/query`, { activeOnly: false, page: 1, pageSize: 5 });
    await post("/notifications/email/validate/smtp", { host: "smtp.example.test", port: 465, ...SERVER });
    await post("/notifications/email/validate/imap", { host: "imap.example.test", port: 993, ...SERVER });
  },
  async Invitations() {
    await get("/invitations");
    const sent = { inviteeEmail: "new-guest@example.test", message: "Welcome", expirationDays: 3 };
    const invitation = await post("/invitations", sent);
    await get("/invitations");
    await post("/invitations/cancel", { invitationBizId: invitation.bizId, reason: "Mistaken" });
  },
  async Grants() {
    await get("/currency-grants");
    const grant = await post("/currency-grants", { workspaceBizId: state.workspace.bizId, currencyCode: "SGD" });
    await get("/currency-grants");
    await post("/currency-grants/revoke", { bizId: grant.bizId });
  },
  async Orders() {
    const path = `/web/v1/admin/transfer/query/orders/workspace/${state.workspace.bizId}`;
    const startTime = new Date(Date.now() - 10 * 86_400_000).toISOString();
    for (const query of [{}, { page: 1, size: 5, sort: "createdAt,desc" }, { startTime, size: 3 }]) {
      await call("GET", `${path}?${new URLSearchParams(query)}`, undefined, challenged());
    }
    await exchange("GET", path);
  },
  async File() {
    for (let time = 0; time < 2; time++) await get(`/files/${window.portal.file}`);
    await get(`/institutions/${state.workspace.institutionBizId}`);
  },
  async History() {
    await get("/security/sessions/history?page=1&pageSize=3");
  },
  async Factors() {
    await post("/auth/login/initiate", Object.fromEntries(new FormData(document.getElementById("sign-in"))));
  },
  async Revoke() {
    await get("/security/mfa");
    await post("/security/mfa/otp/revoke");
    await get("/security/mfa");
  },
  async Renew() {
    const done = await call("POST", `${SYSTEM}/auth/token/refresh`, { refreshToken: state.refresh });
    state.token = done.accessToken;
    state.refresh = done.refreshToken;
    await get("/security/sessions");
  },
  async Leave() {
    await post("/auth/logout");
    await refused("GET", "/profile");
  },
};

/** Runs what a person started, and says how it ended. */
async function run(action) {
  const told = document.querySelector("#told");
  told.textContent = "…";
  try {
    told.textContent = (await action()) ?? "Done";
  } catch (error) {
    told.textContent = `Failed: ${error.message}`;
  }
}

for (const [name, action] of Object.entries({ "sign-in": signIn, confirm, password: changePassword })) {
  const form = document.getElementById(name);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(() => action(Object.fromEntries(new FormData(form))));
  });
}
for (const [name, open] of Object.entries(pages)) {
  const button = Object.assign(document.createElement("button"), { textContent: name });
  button.addEventListener("click", () => run(open));
  document.querySelector("#pages").append(button);
}
