// The secure channel as a browser speaks it: fresh AES keys wrapped with the portal's RSA key, bodies sealed.

const octets = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));

/** Opens a channel through `call`, which gives the data of an answer. */
export async function openChannel(call) {
  const told = await call("GET", "/web/v1/secure-channel/public-key");
  const scheme = { name: "RSA-OAEP", hash: "SHA-256" };
  const portal = await crypto.subtle.importKey("spki", octets(told.publicKey), scheme, false, ["encrypt"]);
  const keys = [crypto.getRandomValues(new Uint8Array(32)), crypto.getRandomValues(new Uint8Array(32))];
  const [encReqKey, encRespKey] = await Promise.all(
    keys.map(async (key) => base64(await crypto.subtle.encrypt(scheme, portal, key))),
  );
  const body = { keyId: told.keyId, encReqKey, encRespKey };
  const { sessionId } = await call("POST", "/web/v1/secure-channel/session", body);
  return { sessionId, key: await crypto.subtle.importKey("raw", keys[0], "AES-GCM", false, ["encrypt"]) };
}

/** A body as the channel's other end takes it. */
export async function sealed(channel, body) {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const plain = new TextEncoder().encode(JSON.stringify(body));
  const hidden = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, channel.key, plain));
  return JSON.stringify({ v: 2, p: base64(new Uint8Array([...iv, ...hidden])) });
}
