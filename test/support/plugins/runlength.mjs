/** A codec as a stranger would write it, without any import. */
const runlength = {
  name: 'runlength',
  encode(chunk) {
    const pairs = [];
    for (let at = 0; at < chunk.length; ) {
      let run = 1;
      while (run < 255 && chunk[at + run] === chunk[at]) run++;
      pairs.push(run, chunk[at]);
      at += run;
    }
    return Uint8Array.from(pairs);
  },
  decode(payload, rawLength) {
    const chunk = new Uint8Array(rawLength);
    let end = 0;
    for (let at = 0; at < payload.length; at += 2) {
      chunk.fill(payload[at + 1], end, end + payload[at]);
      end += payload[at];
    }
    if (end !== rawLength) throw new Error(`the payload holds ${end} bytes`);
    return chunk;
  },
};

export default { name: 'runlength', apiVersion: 1, codecs: [runlength], sources: [] };
