import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { DoctorFinding } from '../../src/cli/doctor/doctor-finding.ts'
import { allFindings } from '../../src/cli/doctor/run.ts'
import { readConfig } from '../../src/config.ts'
import { migrate } from '../../src/store/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { deadAddress, startAnswering } from '../../testkit/listeners.ts'
import { login, mailServer } from '../notifications/email/smtp-server.ts'
import { withStore } from './databases.ts'

export const TOKEN = '0b6f3c1e9a7d42588cb1a6f04e'
export const KEY_PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
export const googleKey = (private_key: string) =>
  JSON.stringify({ client_email: 'reader@project.iam.example', private_key, token_uri: 'https://oauth.example/token' })

/** What a machine has or has not, and no setting of ours. PostgreSQL runs without autovacuum in tests, which saves them time. */
const OF_THE_MACHINE = ['Node', 'open-files', 'memory', 'file-system', 'disk', 'autovacuum']

export interface SetUp {
  environment: Record<string, string>
  /** Where it is run; a `.env` may be there. */
  folder: string
  outbound: string
}

/** An instance as it should be before its first start, with everything set that can be set. */
export async function goodSetUp(t: TestContext): Promise<SetUp> {
  const DATA_DIR = await tempDir(t)
  const receiver = await startAnswering(t, (_request, response) => response.end())
  const mail = await mailServer(t, { onAuth: login, allowInsecureAuth: true })
  return {
    environment: {
      DATA_DIR,
      PORT: new URL(await deadAddress()).port,
      PUBLIC_URL: 'https://tagwarden.example.com',
      ADMIN_TOKEN: TOKEN,
      TRUST_PROXY: '127.0.0.1',
      OUTBOUND_ALLOW: '127.0.0.1',
      CHAT_WEBHOOK_URL: `${receiver}/services/chat-secret`,
      HEARTBEAT_URL: `${receiver}/ping/heartbeat-secret`,
      SMTP_URL: `smtp://user:pass%3Aword@127.0.0.1:${mail.port}`,
      SMTP_FROM: 'Tagwarden <alerts@example.com>',
      GOOGLE_CREDENTIALS: googleKey(KEY_PEM),
    },
    folder: await tempDir(t),
    outbound: receiver,
  }
}

/**
 * Every check in this process, which is ten times faster than the command. What is `ok` is left out of `wrong`, and so is what only
 * a better machine would mend.
 */
export async function wrongWith({ environment, folder, outbound }: SetUp, alsoExpected: readonly string[] = []) {
  const all: DoctorFinding[] = []
  const targets = [{ url: outbound, needs: 'what you use it for' }]
  const examination = { outbound: targets, folder, readSettings: () => readConfig(environment), environment }
  for await (const finding of allFindings(examination)) all.push(finding)
  const said = all.map(({ text }) => text).join('\n')
  for (const secret of ['chat-secret', 'heartbeat-secret', 'pass:word', 'pass%3Aword', TOKEN, KEY_PEM.slice(40, 80)]) {
    assert.ok(!said.includes(secret), `it reveals ${secret}`)
  }
  const isOwn = ({ check }: DoctorFinding) => !OF_THE_MACHINE.includes(check) || alsoExpected.includes(check)
  return { all, wrong: all.filter((finding) => finding.level !== 'ok' && isOwn(finding)) }
}

/** A database as a start leaves it. */
export const makeDatabase = async (dataDir: string): Promise<void> => {
  await withStore(dataDir, (store) => migrate(store.write, store.columnTypes))
}
