// The same package, by `require`. It is not run.

import quorate = require("quorate");
import blst = require("quorate/blst");

const verdicts: Promise<quorate.Verdict[]> = quorate.verify([]);
const secret: blst.SecretKey = blst.SecretKey.fromKeygen(new Uint8Array(blst.SECRET_KEY_LENGTH));
export = { verdicts, secret };
