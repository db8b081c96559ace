// The confirm page's script, whose modules are part of the JavaScript client.
import "/client/pay/confirm.js";
