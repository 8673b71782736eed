import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import pg from 'pg'

/** Sessions of one database that are kept for the next connection. */
export interface KeptSessions {
  /** Waits for sessions that are being reset; resolves with the number that is ready. */
  settled: () => Promise<number>
  /** Ends the kept sessions. */
  end: () => Promise<void>
}

/**
 * Makes this process's connections to the database reuse sessions: one that has read the catalog already costs a tenth of the processor
 * time of a new one.
 *
 * Connections do not notice: settings, locks, listens and prepared statements are discarded in between. A connection that ends in a
 * transaction or during a statement ends its session, too.
 */
export function keepSessions(url: string): KeptSessions {
  joinConnections()
  const name = nameOf(new pg.Client(url))
  const sessions = new Sessions(() => sessionsOf.delete(name))
  sessionsOf.set(name, sessions)
  return sessions
}

/** Ends the kept sessions of a database, for tests that count sessions. */
export const endKeptSessions = async (url: string): Promise<void> =>
  sessionsOf.get(nameOf(new pg.Client(url)))?.endReady()

/** By user and address. Connections through a proxy, as in network tests, have another address and are not kept. */
const sessionsOf = new Map<string, Sessions>()
const nameOf = ({ user = '', host, port, database = '' }: pg.Client) => `${user}@${host}:${port}/${database}`

let areJoined = false

/** Patches the driver, which offers no way to pass it a session. */
function joinConnections(): void {
  if (areJoined) return
  areJoined = true
  const prototype: { connect: (callback?: (error: Error) => void) => unknown } = pg.Client.prototype
  const { connect: connectAsAlways } = prototype
  prototype.connect = function (this: pg.Client, callback) {
    const sessions = sessionsOf.get(nameOf(this))
    if (sessions !== undefined) {
      Object.assign(this.connection, { stream: new KeptConnection(sessions, String(this.password)) })
    }
    return connectAsAlways.call(this, callback)
  }
}

class Sessions implements KeptSessions {
  readonly #ready = new Set<Session>()
  readonly #pending = new Set<Promise<void>>()
  readonly #onEnd: () => void

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  take(key: string): Session | undefined {
    const session = [...this.#ready].findLast((one) => one.key === key)
    if (session !== undefined) this.#ready.delete(session)
    return session
  }

  giveBack(session: Session): Promise<void> {
    const pending = this.#makeReady(session).finally(() => this.#pending.delete(pending))
    this.#pending.add(pending)
    return pending
  }

  async settled(): Promise<number> {
    await Promise.all(this.#pending)
    return this.#ready.size
  }

  async end(): Promise<void> {
    this.#onEnd()
    await this.endReady()
  }

  async endReady(): Promise<void> {
    await this.settled()
    for (const session of this.#ready) session.end()
    this.#ready.clear()
  }

  async #makeReady(session: Session): Promise<void> {
    if (!(await session.discardAll())) return session.end()
    session.usedBy({ receive: () => session.end(), lose: () => this.#ready.delete(session) })
    session.unref()
    this.#ready.add(session)
  }
}

interface SessionUser {
  receive: (data: Buffer) => void
  lose: (error?: Error) => void
}

// https://www.postgresql.org/docs/current/protocol-message-formats.html
const TERMINATE = Buffer.from('X\0\0\0\x04', 'latin1')
const DISCARD_ALL = Buffer.from('Q\0\0\0\x10discard all\0', 'latin1')
/** The server is ready for a statement, outside of a transaction. */
const IDLE = Buffer.from('Z\0\0\0\x05I', 'latin1')
const ANSWER_MAX_MS = 5_000
/** Types of messages that may come at any time: parameters, notices and notifications. */
const BY_THE_WAY = 'SNA'

/** A session of the server with its socket. */
class Session {
  /** The startup message and the password: only a connection with the same ones may use the session. */
  readonly key: string
  readonly #socket: Socket
  #user: SessionUser
  #isIdle = false
  #greeting: Buffer[] | Buffer = []

  constructor(key: string, socket: Socket, user: SessionUser) {
    this.key = key
    this.#user = user
    this.#socket = socket.setNoDelay()
    socket.on('data', (data) => this.#receive(data))
    const lose = (error?: Error) => {
      this.#isIdle = false
      this.#user.lose(error)
    }
    socket.on('error', lose)
    socket.on('close', () => lose())
  }

  /** The server's messages after authenticating the first connection. */
  get greeting(): Buffer {
    return Buffer.concat([this.#greeting].flat())
  }

  usedBy(user: SessionUser): void {
    this.#user = user
    this.ref()
  }

  ref(): void {
    this.#socket.ref()
  }

  unref(): void {
    this.#socket.unref()
  }

  write(messages: Buffer): void {
    this.#isIdle = false
    if (Array.isArray(this.#greeting)) this.#greeting = []
    this.#socket.write(messages)
  }

  /** Resets the session; resolves with whether it is like new. */
  async discardAll(): Promise<boolean> {
    if (!this.#isIdle) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const answer: Buffer[] = []
    this.usedBy({
      receive: (data) => {
        answer.push(data)
        if (this.#isIdle) resolve(/^[SNA]*C[SNA]*Z$/.test(typesOf(Buffer.concat(answer))))
      },
      lose: () => resolve(false),
    })
    this.write(DISCARD_ALL)
    // A stopped or silent server must not delay a test's cleanup.
    const timer = setTimeout(() => resolve(false), ANSWER_MAX_MS)
    return promise.finally(() => clearTimeout(timer))
  }

  end(): void {
    this.#socket.destroy()
  }

  #receive(data: Buffer): void {
    if (Array.isArray(this.#greeting)) this.#greeting.push(data)
    const isByTheWay = BY_THE_WAY.includes(String.fromCharCode(data[0] ?? 0))
    this.#isIdle = data.subarray(-IDLE.length).equals(IDLE) || (this.#isIdle && isByTheWay)
    if (this.#isIdle) this.#greeting = this.greeting
    this.#user.receive(data)
  }
}

/** The types of some messages of the server, one character each. */
function typesOf(messages: Buffer): string {
  let types = ''
  for (let at = 0; at + 5 <= messages.length; at += 1 + messages.readUInt32BE(at + 1)) {
    types += String.fromCharCode(messages[at] ?? 0)
  }
  return types
}

/** The driver's connection in place of a socket, with the parts of `net.Socket` that it uses. */
class KeptConnection extends Duplex implements SessionUser {
  readonly #sessions: Sessions
  readonly #password: string
  #connect: () => Socket = () => connect(0)
  #session: Session | undefined

  constructor(sessions: Sessions, password: string) {
    super()
    this.#sessions = sessions
    this.#password = password
  }

  connect(port: number, host: string): void {
    this.#connect = () => connect(port, host)
    process.nextTick(() => this.emit('connect'))
  }

  setNoDelay(): void {}

  setKeepAlive(): void {}

  ref(): void {
    this.#session?.ref()
  }

  unref(): void {
    this.#session?.unref()
  }

  receive(data: Buffer): void {
    this.push(data)
  }

  lose(error?: Error): void {
    this.destroy(error)
  }

  override _read(): void {}

  override _write(messages: Buffer, _encoding: string, done: () => void): void {
    this.#send(messages)
    done()
  }

  override _writev(writes: { chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(writes.map(({ chunk }) => chunk)))
    done()
  }

  override _final(done: () => void): void {
    done()
    this.destroy()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isBack = this.#session === undefined ? Promise.resolve() : this.#sessions.giveBack(this.#session)
    void isBack.then(() => done(error))
  }

  #send(messages: Buffer): void {
    if (this.#session === undefined) this.#begin(messages)
    else if (!messages.equals(TERMINATE)) this.#session.write(messages)
  }

  #begin(startup: Buffer): void {
    const key = `${startup.toString('latin1')}${this.#password}`
    const session = this.#sessions.take(key)
    this.#session = session ?? new Session(key, this.#connect(), this)
    if (session === undefined) {
      this.#session.write(startup)
    } else {
      session.usedBy(this)
      this.push(session.greeting)
    }
  }
}
