import assert from 'node:assert/strict'
import { claimKeys, clearIdempotencyKeys, IDEMPOTENCY_WINDOW_MS } from '../../src/journal/idempotency.ts'
import type { Store } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { refuseDeletion } from '../../testkit/refusal.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
/** More than one statement takes. */
const MANY = 1_200

const always = () => true
const claim = (siteNo: number, key: string, submission = key) => ({ siteNo, key, submission })
const manyClaims = (from = 0) => Array.from({ length: MANY }, (_, i) => claim(7, `key ${from + i}`))

/** The submissions whose keys were free, in the order of their text. */
async function claimAll(store: Store, claims: ReturnType<typeof claim>[], now = NOW): Promise<string[]> {
  const free = await claimKeys(store, claims, now, () => [])
  return free.map(({ submission }) => submission).sort()
}

const keysLeft = async (store: Store) => (await store.read.selectFrom('idempotency_keys').selectAll().execute()).length

testOnEveryEngine('a key is free once per site', async (store) => {
  assert.deepEqual(await claimAll(store, [claim(1, 'a'), claim(1, 'b')]), ['a', 'b'])
  assert.deepEqual(await claimAll(store, [claim(1, 'b'), claim(1, 'c')], NOW + 1), ['c'])
  assert.deepEqual(await claimAll(store, [claim(2, 'a')], NOW + 2), ['a'])
  const times = await store.read.selectFrom('idempotency_keys').select('accepted_at').distinct().execute()
  assert.deepEqual(times.map((row) => row.accepted_at).sort(), [NOW, NOW + 1, NOW + 2])
})

testOnEveryEngine('of the same key twice in a group the first is free', async (store) => {
  const claims = [claim(2, 'a', 'other site'), claim(1, 'a', 'first'), claim(1, 'a', 'second'), claim(1, 'a', 'third')]
  assert.deepEqual(await claimAll(store, claims), ['first', 'other site'])
})

testOnEveryEngine('no claims are no statement', async (store) => {
  assert.deepEqual(await claimAll(store, []), [])
})

testOnEveryEngine('a group of more keys than one statement takes is claimed whole', async (store) => {
  assert.equal((await claimAll(store, manyClaims())).length, MANY)
  assert.equal((await claimAll(store, manyClaims(100))).length, 100)
})

testOnEveryEngine(
  'a key is taken for 24 hours, longer while the clock is in doubt, and free again before it is removed',
  async (store) => {
    await claimAll(store, [claim(1, 'a')])
    assert.deepEqual(await claimAll(store, [claim(1, 'a')], NOW + IDEMPOTENCY_WINDOW_MS - 1), [])
    const whileInDoubt = await claimKeys(store, [claim(1, 'a')], NOW + IDEMPOTENCY_WINDOW_MS, () => [], null)
    assert.deepEqual(whileInDoubt, [])
    assert.deepEqual(await claimAll(store, [claim(1, 'a')], NOW + IDEMPOTENCY_WINDOW_MS), ['a'])
    assert.deepEqual(await claimAll(store, [claim(1, 'a')], NOW + IDEMPOTENCY_WINDOW_MS + 1), [])
  },
)

testOnEveryEngine('the keys of a group that is not committed stay free', async (store) => {
  const query = store.write
    .insertInto('journal')
    .values({ node_id: 'node', seq: 1, written_at: NOW, payload: '[]' })
    .compile()
  const row = { kind: 'statement', query } as const
  const failing = claimKeys(store, [claim(1, 'a')], NOW, () => [row, row])
  await assert.rejects(failing, { kind: 'unique' })
  assert.deepEqual(await claimAll(store, [claim(1, 'a')]), ['a'])
})

testOnEveryEngine('groups with the same keys in any order, at the same time, get each key once', async (store) => {
  const claims = manyClaims()
  const groups = [claims, claims.toReversed(), [...claims.slice(600), ...claims.slice(0, 600)]]
  const free = await Promise.all(groups.map((group) => claimAll(store, group)))
  assert.deepEqual(free.flat().sort(), claims.map(({ key }) => key).sort())
})

testOnEveryEngine('expired keys are removed, also by several processes at once', async (store) => {
  await claimAll(store, manyClaims())
  await claimAll(store, [claim(7, 'young')], NOW + 1)
  await Promise.all(Array.from({ length: 3 }, () => clearIdempotencyKeys(store, NOW + IDEMPOTENCY_WINDOW_MS, always)))
  await clearIdempotencyKeys(store, NOW + IDEMPOTENCY_WINDOW_MS, always)
  assert.equal(await keysLeft(store), 1)
  await clearIdempotencyKeys(store, NOW + IDEMPOTENCY_WINDOW_MS + 1, always)
  assert.equal(await keysLeft(store), 0)
})

testOnEveryEngine('more keys than one statement takes are removed in one run', async (store) => {
  await claimAll(store, manyClaims())
  await clearIdempotencyKeys(store, NOW + IDEMPOTENCY_WINDOW_MS, always)
  assert.equal(await keysLeft(store), 0)
})

testOnEveryEngine('keys that are claimed again while they are removed are free once', async (store) => {
  await claimAll(store, manyClaims())
  const later = NOW + IDEMPOTENCY_WINDOW_MS
  const [free] = await Promise.all([
    claimAll(store, manyClaims(), later),
    clearIdempotencyKeys(store, later, always),
    clearIdempotencyKeys(store, later, always),
  ])
  assert.equal(free.length, MANY)
  assert.equal(await keysLeft(store), MANY)
})

testOnEveryEngine('a site whose keys cannot be removed does not block other sites', async (store) => {
  await claimAll(
    store,
    [1, 2, 3].map((siteNo) => claim(siteNo, 'a')),
  )
  await refuseDeletion(store, 'idempotency_keys', 1)
  await assert.rejects(clearIdempotencyKeys(store, NOW + IDEMPOTENCY_WINDOW_MS, always), /not to be deleted/)
  const left = await store.read.selectFrom('idempotency_keys').select('site_no').execute()
  assert.deepEqual(left, [{ site_no: 1 }])
})

testOnEveryEngine(
  'a clock that comes into doubt while keys are removed stops the removal before the next step',
  async (store) => {
    await claimAll(store, [...manyClaims(), claim(8, 'a')])
    const leftAfter = async (steps: number) => {
      let asked = 0
      await clearIdempotencyKeys(store, NOW + IDEMPOTENCY_WINDOW_MS, () => asked++ < steps)
      return await keysLeft(store)
    }
    assert.equal(await leftAfter(0), MANY + 1)
    const left = await leftAfter(1)
    assert.ok(left === MANY || left === MANY + 1 - 500, `${left} keys left`)
  },
)
