import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/engines.ts'
import { listen } from '../../testkit/listeners.ts'
import { until } from '../../testkit/until.ts'
import { TcpProxy } from '../chaos/proxy.ts'
import { untilSettled } from '../chaos/settle.ts'
import { endOfWal } from '../chaos/wal.ts'

/** An echo behind a proxy. @param onText called with what arrives at the echo */
async function echoProxy(t: TestContext, onText: (text: string) => void = () => undefined): Promise<TcpProxy> {
  const server = createServer((socket) => {
    socket.on('data', (bytes) => onText(bytes.toString()))
    socket.on('error', () => undefined).pipe(socket)
  })
  const port = await listen(server)
  t.after(() => server.close())
  const proxy = await TcpProxy.to(port)
  t.after(() => proxy.close())
  return proxy
}

/** What has come back so far, and whether the connection has ended. */
async function caller(
  t: TestContext,
  proxy: TcpProxy,
): Promise<{ socket: Socket; received: () => string; isOver: () => boolean }> {
  const socket = connect(proxy.port, '127.0.0.1')
  let received = ''
  let isOver = false
  socket.on('data', (bytes) => {
    received += bytes.toString()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isOver = true
  })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return { socket, received: () => received, isOver: () => isOver }
}

test('a silent proxy ends nothing and passes nothing on; when it speaks again only new connections do', async (t) => {
  const proxy = await echoProxy(t)
  const old = await caller(t, proxy)
  old.socket.write('a')
  await until('the echo is there', () => (old.received() === 'a' ? true : undefined))
  proxy.mode = 'silent'
  old.socket.write('b')
  proxy.forget()
  const fresh = await caller(t, proxy)
  fresh.socket.write('c')
  old.socket.write('d')
  await until('the new one speaks', () => (fresh.received() === 'c' ? true : undefined))
  assert.deepEqual([old.received(), old.isOver()], ['a', false])
})

test('a proxy that resets ends what is connected and refuses who comes', async (t) => {
  const proxy = await echoProxy(t)
  const old = await caller(t, proxy)
  proxy.mode = 'refuse'
  proxy.reset()
  await until('it is over', () => (old.isOver() ? true : undefined))
  const refused = await caller(t, proxy).catch(() => undefined)
  if (refused !== undefined) await until('it is refused', () => (refused.isOver() ? true : undefined))
})

test('a mute proxy hands on what comes and keeps the answers from a text on', async (t) => {
  const received: string[] = []
  const proxy = await echoProxy(t, (text) => received.push(text))
  const old = await caller(t, proxy)
  proxy.mode = { muteFrom: ['begin', 'commit'] }
  old.socket.write('begin')
  await until('the echo is there', () => (old.received() === 'begin' ? true : undefined))
  assert.equal(proxy.hasMet, false)
  old.socket.write('commit')
  await until('it has arrived', () => (received.join('') === 'begincommit' ? true : undefined))
  assert.equal(proxy.hasMet, true)
  proxy.reset()
  await until('it is over', () => (old.isOver() ? true : undefined))
  assert.equal(old.received(), 'begin')
})

test('what a stranded connection had sent arrives late, after its sender saw that it is gone', async (t) => {
  const arrived: string[] = []
  let isOver = () => false
  const proxy = await echoProxy(t, (text) => arrived.push(`${text}${isOver() ? ' after the end' : ''}`))
  const old = await caller(t, proxy)
  isOver = old.isOver
  old.socket.write('a')
  await until('the echo is there', () => (old.received() === 'a' ? true : undefined))
  proxy.mode = { delayMs: 500 }
  await new Promise((resolve) => old.socket.write('b', resolve))
  // The proxy is in this process: it reads what the system has by the next turns of the event loop.
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  proxy.strand()
  proxy.mode = 'pass'
  await until('it has arrived', () => (arrived.length > 1 ? true : undefined))
  assert.deepEqual(arrived, ['a', 'b after the end'])
  assert.equal(old.received(), 'a')
})

test('a slow proxy keeps the order', async (t) => {
  const proxy = await echoProxy(t)
  const slow = await caller(t, proxy)
  proxy.mode = { delayMs: 50 }
  await new Promise((resolve) => slow.socket.write('a', resolve))
  proxy.mode = 'pass'
  slow.socket.write('b')
  await until('both are there', () => (slow.received() === 'ab' ? true : undefined))
})

test('the end of what was committed is found in a write-ahead log, uncommitted and old frames left out', async (t) => {
  const folder = await tempDir(t)
  const path = join(folder, 'data.db')
  const copy = join(folder, 'copy-wal')
  const db = new DatabaseSync(path)
  t.after(() => db.close())
  db.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table rows (value)')
  const end = () => {
    copyFileSync(`${path}-wal`, copy)
    return endOfWal(copy)
  }
  const first = end()
  assert.equal(first.committedBytes, first.fileBytes)
  db.exec('insert into rows values (1)')
  const second = end()
  assert.equal(second.committedBytes, first.committedBytes + second.frameBytes)
  // Moved into the database, the log is written over from its beginning and keeps its length.
  db.exec('pragma wal_checkpoint(restart); insert into rows values (2)')
  const third = end()
  assert.equal(third.committedBytes, 32 + third.frameBytes)
  assert.equal(third.fileBytes, second.fileBytes)
})

test('a journal settles after something new, also where folding that takes longer than the first pause', async () => {
  let nudges = 0
  let looks = 0
  const isSettled = async () => nudges > 0 && ++looks > 8
  const nudge = async () => {
    nudges++
    looks = 0
  }
  await untilSettled({ isSettled, nudge, patienceMs: 20_000, nudgeAfterMs: 10 })
})
