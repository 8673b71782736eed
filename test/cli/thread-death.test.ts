import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { inTurn } from '../../testkit/length.ts'
import { startCli } from '../../testkit/processes/command-line.ts'
import { READY } from '../../testkit/processes/server-process.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

const ENDER = join(import.meta.dirname, 'end-thread.ts')
const FATAL = 60

/** The threads that a service starts with, in their order; the others open in the same way when they are needed. */
const THREADS = { 'that writes': 0, 'that reads': 1 }

for (const [which, number] of Object.entries(THREADS)) {
  test(
    `a service whose database thread ${which} dies says so and ends with code 1, and the next has what was acknowledged`,
    inTurn(number, 2),
    async (t) => {
      const settings = { PORT: '0', DATA_DIR: await tempDir(t) }
      const dying = await startCli(t, ['serve'], {
        ...settings,
        END_THREAD: String(number),
        NODE_OPTIONS: `--import=${ENDER}`,
      })
      const api = apiClient(await dying.printed(READY))
      const site = await api.newSite(await api.newClient())
      assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))).status, 200)

      dying.child.kill('SIGUSR2')
      await until('the process has ended', () => dying.child.exitCode ?? dying.child.signalCode ?? undefined)
      const { code, out, err } = await dying.finished
      assert.deepEqual({ code, err }, { code: 1, err: [] })
      const last = JSON.parse(out.at(-1) ?? '') as { level: number; msg: string; err: { message: string } }
      assert.equal(last.level, FATAL)
      assert.match(last.msg, /^the process ends because its database is unreachable: what was acknowledged is safe/)
      assert.match(last.err.message, /^the database thread ended with code 1$/)

      const again = await startTestService(t, systemClock, settings)
      const report = await again.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=1`)
      assert.equal(report.json<{ total_events: number }>().total_events, 1)
    },
  )
}
