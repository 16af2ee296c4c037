// The same package, by `require`. It is not run.

import quorate = require("quorate");
import blst = require("quorate/blst");
import evm = require("quorate/evm");

const verdicts: Promise<quorate.Verdict[]> = quorate.verify([]);
const secret: blst.SecretKey = blst.SecretKey.fromKeygen(new Uint8Array(blst.SECRET_KEY_LENGTH));
const epoch: number = new evm.Network("{}").epoch;
export = { verdicts, secret, epoch };
