// The page: it asks for a signature and hands it to the server. Keys and passkeys stay with Holdfast.
const { service, challenge, text } = await (await fetch("challenge")).json();
const { connect, connected } = await import(`${service}/client/connect.js`);
const button = document.querySelector("#sign");
const outcome = document.querySelector("#outcome");

button.disabled = false;
// `connect` is the first thing of the click, or the browser blocks the window.
button.onclick = () => connect({ name: "Guest book", sign: { text, challenge } }).then(signed, failed);
connected().then((result) => result && signed(result), failed); // where no window opened, the person comes back with it

async function signed({ signature }) {
  const answer = await fetch("sign", { method: "POST", body: JSON.stringify(signature) });
  outcome.textContent = await answer.text();
}

function failed({ code, message }) {
  outcome.textContent = `${message} (${code})`;
}
