import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { freePort } from '../../testkit/listeners.ts'

const BLOCK = 20

test('a port for a program is given once, and its process keeps other processes off it', async () => {
  const ports = new Set<number>()
  for (let n = 0; n < 2 * BLOCK; n++) {
    const port = await freePort()
    assert.ok(port > 20_000 && port < 32_000 && !ports.has(port), String(port))
    ports.add(port)
    const holder = connect(port - (port % BLOCK), '127.0.0.1')
    await new Promise<void>((resolve, reject) => holder.once('connect', resolve).once('error', reject))
    holder.destroy()
  }
})
