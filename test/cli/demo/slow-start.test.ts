import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { prepareDemo, serveDemo } from '../../../src/cli/demo/run.ts'
import { readConfig } from '../../../src/config.ts'
import { apiClient } from '../../../testkit/api.ts'
import { tempDir } from '../../../testkit/engines.ts'
import { AT_NIGHT } from '../../../testkit/length.ts'
import { until } from '../../../testkit/until.ts'

interface Probe {
  id: string
  site_id: string
  probe_type: string
  last_result_at: string | null
}
interface Alert {
  title: string
  probe_type: string
  opened_at: string
}

/** Of a machine that needs many times as long for everything, until it `recovers`. */
class SlowMachine {
  readonly #start = Date.now()
  #factor: number
  #offset = 0

  constructor(factor: number) {
    this.#factor = factor
  }

  now(): number {
    return this.#start + this.#offset + (Date.now() - this.#start) * this.#factor
  }

  recover(): void {
    const now = this.now()
    this.#factor = 1
    this.#offset = now - Date.now()
  }
}

test(
  'a demo that took long to start finds no silence by that, and its clients get messages in its chat',
  AT_NIGHT,
  async (t) => {
    const clock = new SlowMachine(60)
    const began = clock.now()
    const config = readConfig({ PORT: '0', DATA_DIR: await tempDir(t) })
    const options = { config, clock, days: 1, seed: 'slow', simulate: true }
    const prepared = await prepareDemo(options)
    t.after(() => prepared.tagServer.close())
    clock.recover()
    const readyAt = clock.now()
    assert.ok(readyAt - began > 120_000, `it took ${readyAt - began} ms of its time`)
    const demo = await serveDemo(options, prepared, pino({ level: 'silent' }))
    t.after(demo.stop)
    const api = apiClient(demo.address)
    const list = async <T>(path: string) => (await api.call('GET', `/api/${path}`)).json<T>()

    const live = await until(
      'probes of silence have run',
      async () => {
        const probes = await list<Probe[]>('probes')
        const ofSilence = probes.filter(({ probe_type }) => ['data_freshness', 'data_volume'].includes(probe_type))
        const ran = ofSilence.filter(({ last_result_at }) => Date.parse(last_result_at ?? '') >= readyAt)
        return ran.length === ofSilence.length ? ran : undefined
      },
      120_000,
    )
    assert.equal(live.length, 8)
    const open = await list<Alert[]>('alerts?resolved=false')
    assert.deepEqual(
      open.filter(({ probe_type }) => ['data_freshness', 'data_volume'].includes(probe_type)),
      [],
    )

    const texts = prepared.chat.messages.map(({ text }) => text)
    assert.ok(
      texts.some((text) => /Feldkamp Outdoor.*Meta CAPI/.test(text)),
      texts.join('\n\n'),
    )
    const deliveries = await list<{ state: string }[]>('deliveries')
    assert.ok(deliveries.every(({ state }) => state === 'delivered'))
    const { clients_without_channel } = await list<{ clients_without_channel: unknown[] }>('dashboard/overview')
    assert.deepEqual(clients_without_channel, [])
  },
)
