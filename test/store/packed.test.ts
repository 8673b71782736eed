import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { PackedSums, packRow, totalOf, unpacked } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'

const countsOf = (...counts: number[]) => ({ width: counts.length, at: (index: number) => counts[index] ?? 0 })

test('a row is packed without the zeros at its end, whatever its names hold', () => {
  assert.equal(packRow(['GA4'], countsOf(3, 0, 1, 0, 0)), '["GA4",3,0,1]')
  assert.equal(packRow(['a "b"', 'ü,]'], countsOf(0, 0)), '["a \\"b\\"","ü,]"]')
  assert.equal(packRow(['GA4'], countsOf(1, 2, 3), 2), '["GA4",1,2]')
})

test('sums are by all names, and rows of different lengths add up', () => {
  const sums = new PackedSums(2)
  sums.add('[["purchase","GA4",1],["purchase","Ads",0,2]]')
  sums.add('[["purchase","GA4",1,0,5],["purchaseGA4","",9]]')
  assert.equal(sums.size, 3)
  assert.equal(sums.toText(), '[["purchase","GA4",2,0,5],["purchase","Ads",0,2],["purchaseGA4","",9]]')
})

testOnEveryEngine('packed counts are read as rows, also huge ones and names like SQL and JSON', async (store) => {
  const part = { site_no: 1, bucket: 60_000, event_tags: null, signals: null, tag_signals: null, fields: null }
  const odd = `it's "odd", [1] $1 ? \\ ü 😀`
  await store.write
    .insertInto('minute_parts')
    .values([
      {
        ...part,
        container_id: 'a',
        part: 1,
        events: null,
        tags: `[${packRow([odd], countsOf(2, 0, 2 ** 53))},["",1]]`,
      },
      { ...part, container_id: 'a', part: 2, events: null, tags: `[${packRow([odd], countsOf(1, 0, 2 ** 53))}]` },
      { ...part, container_id: 'b', part: 1, events: null, tags: `[["other",0,0,1e21]]` },
      { ...part, container_id: 'b', part: 2, events: '[["not read",1]]', tags: null },
    ])
    .execute()
  const source = unpacked(store.read, {
    column: sql.ref('p.tags'),
    names: ['name'],
    counts: ['first', 'second', 'third'],
    tables: sql`minute_parts as p`,
    where: sql`p.site_no = ${1}`,
    keys: { container_id: sql.ref('p.container_id') },
    minima: { bucket: sql.ref('p.bucket') },
    sumBy: [sql.ref('p.container_id')],
  })
  const { rows } = await sql`
    select container_id, name, min(bucket) as bucket,
      ${totalOf('first')} as first, ${totalOf('second')} as second, ${totalOf('third')} as third
    from ${source} as counts group by container_id, name order by container_id, name`.execute(store.read)
  assert.deepEqual(
    rows.map((row) => ({ ...(row as object) })),
    [
      { container_id: 'a', name: '', bucket: 60_000, first: 1, second: 0, third: 0 },
      { container_id: 'a', name: odd, bucket: 60_000, first: 3, second: 0, third: 2 ** 54 },
      { container_id: 'b', name: 'other', bucket: 60_000, first: 0, second: 0, third: 1e21 },
    ],
  )
})
