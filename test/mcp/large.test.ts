import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { bearer } from '../../testkit/api.ts'
import { startTestService } from '../../testkit/service.ts'

const ADMIN = 'admin-token-0123456789'
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_sites', arguments: { limit: 1 } } }

test('answers of the routes that a tool calls do not count as unread for ever', async (t) => {
  const service = await startTestService(t, systemClock, { ADMIN_TOKEN: ADMIN })
  const as = bearer(ADMIN)
  const { id } = (await service.call('POST', '/api/clients', { name: 'A' }, as)).json<{ id: string }>()
  // With long addresses a list of 200 sites takes 400 kB, and a caller may leave 16 MB unread.
  const url = `https://shop.example/${'x'.repeat(1_900)}`
  for (let count = 0; count < 200; count++) {
    await service.call('POST', '/api/sites', { client_id: id, name: `Site ${count}`, url }, as)
  }
  for (let count = 0; count < 60; count++) {
    const answer = await service.call('POST', '/mcp', call, { ...as, accept: 'application/json, text/event-stream' })
    assert.match(answer.text, /"total\\?":200/)
  }
})
