// Preloaded into Alto, which listens on all interfaces and has no option to change that: makes it listen on the loopback
// address that is this module's query.
import net from "node:net";

const HOST = new URL(import.meta.url).search.slice(1);
const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function listenOnLoopback(first, ...rest) {
  if (first !== null && typeof first === "object" && "port" in first) {
    return listen.call(this, { ...first, host: HOST }, ...rest);
  }
  if (typeof first === "number" || /^\d+$/.test(String(first))) {
    const others = rest.filter((argument) => typeof argument === "function");
    return listen.call(this, { port: Number(first), host: HOST }, ...others);
  }
  return listen.call(this, first, ...rest); // a path or a handle, so there is no network
};
