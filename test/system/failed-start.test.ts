import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { StartupError, systemClock } from '../../src/lib/index.ts'
import { startService } from '../../src/main.ts'
import { StoreError } from '../../src/store/index.ts'
import { placeFor, sqlite } from '../../testkit/engines.ts'
import { openOutboundWithoutThread } from '../../testkit/outbound.ts'
import { ALONE } from '../../testkit/service.ts'
import { openWithoutThreads } from '../../testkit/sqlite.ts'

for (const failures of [1, Number.POSITIVE_INFINITY]) {
  test(`a start whose database fails ${failures === 1 ? 'once' : 'for good'} after it listens ends in one line, and listens no longer`, async (t) => {
    const place = await placeFor(sqlite, t)
    const port = await freePort()
    let left = 0
    const start = startService({
      config: readConfig({ ...ALONE, ...place, PORT: String(port), ADMIN_EMAIL: 'ada@example.com' }),
      clock: systemClock,
      log: pino({ level: 'silent' }),
      open: async (...args) => {
        const store = await openWithoutThreads(...args)
        return new Proxy(store, {
          get: (target, name) => {
            if ((name === 'read' || name === 'write') && left-- > 0) throw new StoreError('unavailable', 'it is gone')
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      },
      openOutbound: openOutboundWithoutThread,
      onListening: () => {
        left = failures
      },
    })
    await assert.rejects(start, new StartupError('the database cannot be used: it is gone'))
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health`), TypeError)
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
