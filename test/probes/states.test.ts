import assert from 'node:assert/strict'
import { type ProbeState, ProbeStates } from '../../src/probes/index.ts'
import type { Store } from '../../src/store/index.ts'
import { NOW } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'

const change = (store: Store, id: string, values: Record<string, string | number | null>) =>
  store.write.updateTable('probes').set(values).where('id', '=', id).execute()

testOnEveryEngine(
  'what is kept of a site is given again until any of its probes says something else',
  async (store) => {
    const [one, other] = [await insertSite(store), await insertSite(store)]
    const first = await insertProbe(store, one.id, { created_at: NOW - 1 })
    const second = await insertProbe(store, one.id, { created_at: NOW - 2, name: 'Zweite', last_status: 'ok' })
    await insertProbe(store, other.id)
    const states = new ProbeStates(store)
    const before = await states.read()
    assert.deepEqual(
      before
        .get(one.id)
        ?.map(({ id, name, status, message, lastResultAt }) => [id, name, status, message, lastResultAt]),
      [
        [second.id, 'Zweite', 'ok', null, null],
        [first.id, 'Fake', null, null, null],
      ],
    )
    let known = before.get(one.id)
    const changes: readonly Record<string, string | number | null>[] = [
      { last_status: 'warning' },
      { last_status: 'ok', last_reason: 'learning' },
      { last_reason: null },
      { last_message: '' },
      { last_message: null },
      { last_message: '\u0001' },
      { last_message: 'Zwölf · 日本 \u001f ok' },
      { last_response_time_ms: 0 },
      { last_response_time_ms: null, last_result_at: 0 },
      { last_result_at: NOW },
      { probe_type: 'other' },
      { name: 'Renamed' },
    ]
    for (const values of changes) {
      await change(store, first.id, values)
      const now = await states.read()
      assert.notEqual(now.get(one.id), known, JSON.stringify(values))
      assert.deepEqual(now.get(one.id), (await new ProbeStates(store).read()).get(one.id))
      known = now.get(one.id)
      assert.equal((await states.read()).get(one.id), known)
      assert.equal(now.get(other.id), before.get(other.id))
    }
  },
)

testLogic('probes that are switched off or deleted are gone, and so are sites without any', async (store) => {
  const site = await insertSite(store)
  const [off, gone] = [await insertProbe(store, site.id), await insertProbe(store, site.id)]
  const states = new ProbeStates(store)
  const idsOf = async (): Promise<string[] | undefined> =>
    (await states.read()).get(site.id)?.map(({ id }: ProbeState) => id)
  assert.deepEqual(await idsOf(), [off.id, gone.id])
  await change(store, off.id, { is_active: 0 })
  assert.deepEqual(await idsOf(), [gone.id])
  await store.write.deleteFrom('probes').where('id', '=', gone.id).execute()
  assert.equal(await idsOf(), undefined)
  await change(store, off.id, { is_active: 1 })
  assert.deepEqual(await idsOf(), [off.id])
})

testOnEveryEngine('two who ask at the same time are both answered with what is there', async (store) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id, { last_status: 'ok' })
  const states = new ProbeStates(store)
  await states.read()
  await change(store, probe.id, { last_status: 'error' })
  const answers = await Promise.all([states.read(), states.read(), states.read()])
  for (const answer of answers) assert.equal(answer.get(site.id)?.[0]?.status, 'error')
})
