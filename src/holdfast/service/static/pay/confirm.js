// The confirm page's script: its modules are part of the client.
import "/client/pay/confirm.js";
