// Pages that are opened as files may start no worker, and the search is one: run its script in a hidden frame.
// As between real workers, messages are copies and arrive later.
if (location.protocol === "file:") {
  const later = (message, receive) => {
    const copy = structuredClone(message)
    setTimeout(() => receive(copy))
  }
  window.Worker = class {
    constructor(url) {
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.onload = () => {
        const inside = this.frame.contentWindow
        inside.postMessage = message => later(message, data => this.onmessage?.({ data }))
        const script = inside.document.createElement("script")
        script.src = url
        script.onerror = error => this.onerror?.(error)
        script.onload = () => {
          this.deliver = message =>
            later(message, data => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
          this.waiting.forEach(this.deliver)
        }
        inside.document.head.append(script)
      }
      document.body.append(this.frame)
    }
    postMessage(data) {
      if (this.deliver) this.deliver(data)
      else this.waiting.push(data)
    }
    terminate() {
      this.frame.remove()
    }
  }
}
