// The confirm page's script. Its modules are part of the client.
import "/client/pay/confirm.js";
