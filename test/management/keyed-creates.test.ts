import assert from 'node:assert/strict'
import { writeAudit } from '../../src/management/audit.ts'
import { type ClientRecord, clearKeys } from '../../src/management/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { type Management, openManagement } from './support.ts'

const post = (management: Management, url: string, key: string, body: unknown) =>
  management.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    payload: JSON.stringify(body),
  })

const client = (management: Management, key: string, name = 'Acme') =>
  post(management, '/api/clients', key, { name, chat_webhook: 'https://hooks.slack.com/services/T/B/secret' })

/** Holds the answers to changes that are saved, until `release`. */
function holdAnswers({ changes }: Store) {
  const [created, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const unsubscribe = changes.subscribe(() => {
    created.resolve()
    return held.promise
  })
  return {
    isCreated: created.promise,
    release: () => {
      unsubscribe()
      held.resolve()
    },
  }
}

const idsOf = async ({ read }: Store, table: 'clients' | 'sites' | 'audit_log') =>
  (await read.selectFrom(table).select('id').execute()).map(({ id }) => id)

testOnEveryEngine(
  'of creates at once with one Idempotency-Key one creates, and all get its answer',
  async (store, t) => {
    const management = await openManagement(store, t)
    const answers = await Promise.all(Array.from({ length: 4 }, () => client(management, 'key')))
    const later = await client(management, 'key')
    const [first] = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
    const all = [...answers, later].map(({ statusCode, body }) => ({ statusCode, body }))
    assert.deepEqual(
      all,
      Array.from({ length: 5 }, () => ({ statusCode: 201, body: first?.body })),
    )
    assert.equal(later.headers['idempotent-replayed'], 'true')
    assert.deepEqual(await idsOf(store, 'clients'), [later.json<ClientRecord>().id])
    assert.equal((await idsOf(store, 'audit_log')).length, 1)
    // Neither the key nor what is secret of the answer can be read from the row.
    const [row] = await store.read.selectFrom('create_keys').selectAll().execute()
    assert.doesNotMatch(JSON.stringify(row), /"key"|hooks/)

    await clearKeys(store, (row?.created_at ?? 0) - 1, () => true)
    assert.equal((await client(management, 'key')).body, first?.body)
    await clearKeys(store, row?.created_at ?? 0, () => true)
    assert.notEqual((await client(management, 'key')).body, first?.body)
  },
)

testLogic(
  'an Idempotency-Key with another request is refused, whatever differs, and another key creates',
  async (store, t) => {
    const management = await openManagement(store, t)
    const first = await client(management, 'key')
    const others = [
      await client(management, 'key', 'Acme 2'),
      await post(management, '/api/views', 'key', { name: 'Mine', path: '/alerts' }),
    ]
    for (const answer of others) {
      assert.deepEqual([answer.statusCode, answer.json().error], [422, 'idempotency_key_reused'])
    }
    const second = await client(management, 'key 2')
    const without = await client(management, '')
    const long = await client(management, 'k'.repeat(129))
    assert.deepEqual([second.statusCode, without.statusCode, long.statusCode], [201, 201, 400])
    assert.equal(new Set([first.body, second.body, without.body]).size, 3)
    assert.equal((await idsOf(store, 'clients')).length, 3)
  },
)

testLogic('a create that is refused or rolled back leaves its Idempotency-Key free', async (store, t) => {
  let fails = true
  const management = await openManagement(store, t, {
    async addProbes(trx, ctx, { id }) {
      const entry = { entity: 'probe', verb: 'create', before: null, after: { site_id: id } } as const
      await writeAudit(trx, ctx, [{ ...entry, id: 'one' }])
      await writeAudit(trx, ctx, [{ ...entry, id: 'two' }])
      if (fails) throw new Error('no probes')
    },
  })
  const { id } = await management.client()
  const site = (fields: object) =>
    post(management, '/api/sites?auto_probes=true', 'key', {
      ...{ client_id: id, name: 'Shop', url: 'https://shop.example' },
      ...fields,
    })
  assert.equal((await site({ url: 'shop' })).statusCode, 400)
  assert.equal((await site({})).statusCode, 500)
  assert.deepEqual(await idsOf(store, 'sites'), [])
  fails = false
  const created = await site({})
  assert.equal(created.statusCode, 201)
  assert.equal((await site({})).body, created.body)
  assert.equal((await idsOf(store, 'sites')).length, 1)
})

testLogic(
  'a repetition waits for an answer that is under way, and says what was created where there will be none',
  async (store, t) => {
    let looks = 0
    const looked = Promise.withResolvers<void>()
    const watched: Store = Object.create(store, {
      read: {
        get() {
          // Of the first, then of the second, twice: it waits.
          if (++looks === 3) looked.resolve()
          return store.read
        },
      },
    })
    const management = await openManagement(watched, t)
    const slow = holdAnswers(store)
    const first = client(management, 'slow')
    await slow.isCreated
    const second = client(management, 'slow')
    await Promise.race([looked.promise, second])
    slow.release()
    assert.equal((await second).body, (await first).body)

    management.clock.advance(1_000)
    // For all that a repetition sees, the node that created it was killed here.
    const killed = holdAnswers(store)
    const unanswered = client(management, 'lost')
    await killed.isCreated
    const [, lost] = await management.get<ClientRecord[]>('/api/clients')
    management.clock.advance(60_000)
    const again = await client(management, 'lost')
    assert.equal(again.statusCode, 409)
    assert.ok(again.json().message.includes(`client.create ${lost?.id}`), again.body)
    killed.release()
    await unanswered
    assert.equal((await idsOf(store, 'clients')).length, 2)
  },
)
