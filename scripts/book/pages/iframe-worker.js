// The search runs in a Worker. A browser starts none for a page that it reads from a file, so there it runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      // The script in the frame answers with `postMessage(data)`, and loads others with `importScripts`.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const load = (src) =>
        new Promise((resolve, reject) => {
          const script = inside.document.createElement("script");
          Object.assign(script, { src, onload: resolve, onerror: reject });
          inside.document.body.append(script);
        });
      inside.importScripts = async (...urls) => {
        for (const each of urls) await load(each);
      };
      this.inside = inside;
      this.loaded = load(new URL(url, location.href).href);
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
