import type { TestContext } from 'node:test'
import type { ChannelSettings } from '../../../src/notifications/index.ts'
import type { ProbeOutcome } from '../../../src/probes/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { runDue, typeOf } from '../../probes/support.ts'
import { deliverAll, outbox, watch } from '../support.ts'

type Status = 'ok' | 'warning' | 'critical' | 'error'

/** A site with the two probes that look at its server. With channels of its own what is written waits there, else it is delivered at once. */
export async function watchServer(t: TestContext, store: Store, channelSettings?: ChannelSettings) {
  let health: Status = 'ok'
  let infra: Status = 'ok'
  const run = async (): Promise<ProbeOutcome> => ({ status: health, message: `endpoint ${health}`, details: {} })
  const options = channelSettings === undefined ? {} : { delivers: false, channelSettings }
  const type = typeOf(run, { name: 'http_health' })
  const seen = await watch(t, store, { probe_type: 'http_health' }, { type, ...options })
  const other = await watch(
    t,
    store,
    { probe_type: 'tag_server_infra', site_id: seen.site.id },
    {
      type: typeOf(async () => ({ status: infra, message: `hosting ${infra}`, details: {} }), {
        name: 'tag_server_infra',
      }),
      ...options,
    },
  )
  const look = async ({ node, probe, clock }: typeof seen) => {
    clock.set(seen.clock.now())
    await store.write.updateTable('probes').set({ next_run_at: clock.now() }).where('id', '=', probe.id).execute()
    await runDue(node)
    if (channelSettings === undefined) await deliverAll(store, clock.now())
  }
  return {
    ...seen,
    health: (status: Status) => {
      health = status
      return look(seen)
    },
    infra: (status: Status) => {
      infra = status
      return look(other)
    },
  }
}

/** The messages in the outbox, as `opened endpoint critical`. */
export const messages = async (store: Store) => (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.title}`)

export const incidents = (store: Store) => store.write.selectFrom('incidents').selectAll().orderBy('id').execute()
