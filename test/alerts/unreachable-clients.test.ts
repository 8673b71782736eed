import assert from 'node:assert/strict'
import { unreachableClients } from '../../src/alerts/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'

const HOOK = 'https://chat.example/hook'
const CHANNEL_SETTINGS = { globalWebhook: null, isEmailOn: true }

async function switchOff(store: Store, channel: string, address: string): Promise<void> {
  const off = { channel, address, next_attempt_at: 0, failures: 20, off_since: 1 }
  await store.write.insertInto('channels').values(off).execute()
}

testOnEveryEngine('a client whose channels are all switched off is unreachable', async (store) => {
  const { client_id: id } = await insertSite(store)
  const set = (fields: { chat_webhook?: string; email?: string }) =>
    store.write.updateTable('clients').set(fields).where('id', '=', id).execute()
  const unreachable = async (
    channelSettings: { globalWebhook: string | null; isEmailOn: boolean } = CHANNEL_SETTINGS,
  ) => {
    const clients = await store.read.selectFrom('clients').selectAll().execute()
    return (await unreachableClients(store.read, clients, channelSettings)).map((client) => client.id)
  }
  assert.deepEqual(await unreachable(), [id], 'without a channel')
  await set({ chat_webhook: HOOK, email: 'ops@acme.example' })
  assert.deepEqual(await unreachable(), [])
  await switchOff(store, `chat:${id}`, HOOK)
  assert.deepEqual(await unreachable(), [], 'e-mail is left')
  assert.deepEqual(await unreachable({ ...CHANNEL_SETTINGS, isEmailOn: false }), [id], 'e-mail is not set up')
  await switchOff(store, `email:${id}`, 'ops@acme.example')
  assert.deepEqual(await unreachable(), [id])
  assert.deepEqual(await unreachable({ ...CHANNEL_SETTINGS, globalWebhook: 'https://hooks.example/all' }), [])
  await set({ chat_webhook: `${HOOK}/new` })
  assert.deepEqual(await unreachable(), [], 'an edited address is another one')
})
