// The connection to the server: calls with answers, streams of rows, and a way back when it was lost.

type Waiting = { resolve: (value: any) => void; reject: (error: Refusal) => void };

/** Why a request was not carried out. */
export class Refusal extends Error {
  constructor(message: string, readonly diagnostics: any[] = [], readonly cancelled = false) {
    super(message);
  }
}

/** Milliseconds before the next attempt. */
const RETRY_FIRST = 250;
const RETRY_MAX = 5000;

export class Socket {
  private socket: WebSocket | null = null;
  private next = 1;
  private waiting = new Map<number, Waiting>();
  private listeners = new Map<string, ((message: any) => void)[]>();
  private retry = RETRY_FIRST;

  constructor(private readonly address: string) {}

  on(event: string, listener: (message: any) => void) {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  private emit(event: string, message: any) {
    for (const listener of this.listeners.get(event) ?? []) listener(message);
  }

  connect() {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.retry = RETRY_FIRST;
      this.emit("open", null);
    };
    socket.onmessage = ({ data }) => this.take(typeof data === "string" ? JSON.parse(data) : unpack(data));
    socket.onclose = () => {
      this.emit("lost", null);
      for (const { reject } of this.waiting.values()) reject(new Refusal("the connection was lost", [], true));
      this.waiting.clear();
      setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(2 * this.retry, RETRY_MAX);
    };
  }

  /** As if the network had failed. */
  drop() {
    this.socket?.close();
  }

  private take(message: any) {
    if (message.event) return this.emit(message.event, message);
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    const { error } = message;
    if (error) waiting.reject(new Refusal(error.message, error.diagnostics, error.cancelled));
    else waiting.resolve(message.result);
  }

  call<T = any>(method: string, params?: object): Promise<T> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) return reject(new Refusal("there is no connection to the server", [], true));
      this.waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** What has no answer. */
  tell(method: string, params: object) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ id: 0, method, params }));
  }
}

/** A binary message: length of the head, head, columns of numbers. */
function unpack(buffer: ArrayBuffer): any {
  const length = new DataView(buffer).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const body = message.result ?? message;
  let at = Math.ceil((4 + length) / 8) * 8;
  body.columns = [];
  for (let k = 0; k <= body.names.length; k++) {
    body.columns.push(new Float64Array(buffer, at, body.rows));
    at += 8 * body.rows;
  }
  return message;
}
