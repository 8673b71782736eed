import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../../src/config.ts'
import { openStore } from '../../../src/store/index.ts'
import { apiClient } from '../../../testkit/api.ts'
import { demoIn } from '../../../testkit/demo.ts'
import { placeFor, postgres, tempDir } from '../../../testkit/engines.ts'
import { startCli } from '../../../testkit/processes/command-line.ts'
import { READY } from '../../../testkit/processes/server-process.ts'

const REACH = {
  CHAT_WEBHOOK_URL: 'https://chat.example/hook',
  SMTP_URL: 'smtp://mail.example:587',
  SMTP_FROM: 'alerts@example.com',
  HEARTBEAT_URL: 'https://watch.example/beat',
}

interface Channel {
  client_id: string | null
}

interface Client {
  id: string
  chat_webhook: string | null
}

test('the demo keeps to its folder and notifies only its own chat, whatever the settings say', async (t) => {
  const environment = await placeFor(postgres, t)
  const settings = { ...environment, DATABASE_READ_URL: environment.DATABASE_URL ?? '', ROLE: 'worker', ...REACH }
  const demo = await startCli(t, demoIn(await tempDir(t), 1), settings)
  const api = apiClient(await demo.printed(READY))
  assert.equal((await api.call('GET', '/api/sites')).json<unknown[]>().length, 4)
  const reach = (await api.call('GET', '/api/channels')).json<{ email_enabled: boolean; channels: Channel[] }>()
  assert.equal(reach.email_enabled, false)
  const clients = (await api.call('GET', '/api/clients')).json<Client[]>()
  assert.deepEqual(
    reach.channels.map(({ client_id }) => client_id),
    clients.map(({ id }) => id),
  )
  for (const { chat_webhook } of clients) assert.match(chat_webhook ?? '', /^http:\/\/127\.0\.0\.1:\d+\/chat\/hook\//)
  demo.child.kill('SIGTERM')
  assert.equal((await demo.finished).code, 0)

  const store = await openStore(readConfig(environment), (error) => assert.fail(error))
  t.after(() => store.close())
  assert.deepEqual(await store.read.selectFrom('nodes').selectAll().execute(), [])
  assert.deepEqual(await store.read.selectFrom('clients').selectAll().execute(), [])
})
