// The page of the example app, which requests a signature and passes it to the server. Keys and passkeys stay with
// Holdfast.
const { service, challenge, text } = await (await fetch("challenge")).json();
const { connect, connected } = await import(`${service}/client/connect.js`);
const button = document.querySelector("#sign");
const outcome = document.querySelector("#outcome");

button.disabled = false;
// `connect` must come first in the click handler, or the browser blocks the window.
button.onclick = () =>
  connect({ name: "Guest book", sign: { text, challenge } }, { returnTo: "/" }).then(signed, failed);
connected().then((result) => result && signed(result), failed); // if no window opened, the person comes back with the result

async function signed({ signature }) {
  const answer = await fetch("sign", { method: "POST", body: JSON.stringify(signature) });
  outcome.textContent = await answer.text();
}

function failed({ code, message }) {
  outcome.textContent = `${message} (${code})`;
}
