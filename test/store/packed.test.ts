import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { PackedSums, packRow, packRows, totalOf, unpacked } from '../../src/store/index.ts'
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

const NAMES = [
  'GA4',
  '',
  '(other)',
  'a, b',
  'c,"d"',
  '],[',
  '[["',
  '\\',
  '\\"',
  '{"k":1}',
  'ü 😀',
  'line\nbreak',
  '1',
  'null',
]
const COUNTS = [[], [0.5, 1e-7], [9, 10, 109], [0, 0, 1e21], [2 ** 53 - 1, 2 ** 60 + 256], [0, 0, 0, 3 ** 35]]

test('sums of packed counts are what adding up their JSON gives, written with and without the spaces of jsonb', () => {
  for (const width of [1, 2]) {
    const sums = new PackedSums(width)
    const expected = new Map<string, number[]>()
    for (const [n, name] of NAMES.entries()) {
      const names = [name, NAMES[(n + 1) % NAMES.length] ?? ''].slice(0, width)
      const sum: number[] = []
      expected.set(JSON.stringify(names), sum)
      for (const counts of COUNTS) {
        const row = [...names, ...counts].map((value) => JSON.stringify(value))
        const none = NAMES.slice(0, width).map((value) => JSON.stringify(value))
        for (const space of ['', ' ']) {
          sums.add(`[[${row.join(`,${space}`)}],${space}[${none.join(`,${space}`)}]]`)
          for (const [index, count] of counts.entries()) sum[index] = (sum[index] ?? 0) + count
        }
      }
    }
    const silent = ['silent', 'too'].slice(0, width)
    sums.add(JSON.stringify([silent]))
    expected.set(JSON.stringify(silent), [])
    const rows = JSON.parse(sums.toText()) as (string | number)[][]
    const found = rows.map((row) => [JSON.stringify(row.slice(0, width)), row.slice(width)] as const)
    assert.deepEqual(new Map(found), expected)
    assert.equal(found.length, expected.size)
  }
})

test('no rows are packed as null, and a text without rows adds nothing', () => {
  assert.equal(packRows([]), null)
  const sums = new PackedSums(1)
  sums.add('[]')
  assert.equal(sums.size, 0)
  assert.equal(sums.toText(), '[]')
})

test('a text that is cut off or broken is refused, in place of counting what is left of it', () => {
  for (const [names, text] of [
    [1, '[["GA4",30,0.5],["Ads",12],["Meta"]]'],
    [2, '[["purchase","GA4",3],["","Ads"]]'],
    [1, '[["a, b", 3]]'],
  ] as const) {
    new PackedSums(names).add(text)
    for (let end = 0; end < text.length; end++)
      assert.throws(() => new PackedSums(names).add(text.slice(0, end)), SyntaxError, text.slice(0, end))
  }
  for (const text of [
    '[["GA4",x]]',
    '[["GA4",3]]]]',
    '[["GA4",3]],[]',
    '[["GA4"3]]',
    '[["GA4",3],[4]]',
    '[["GA4",3],[x"]]',
  ])
    assert.throws(() => new PackedSums(1).add(text), SyntaxError, text)
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
      {
        ...part,
        bucket: 120_000,
        container_id: 'a',
        part: 2,
        events: null,
        tags: `[${packRow([odd], countsOf(1, 0, 2 ** 53))}]`,
      },
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
      ${totalOf('first')} as first, ${totalOf('second')} as second, ${totalOf('third')} as third,
      ${totalOf(sql`first - second`)} as difference
    from ${source} as counts group by container_id, name order by container_id, name`.execute(store.read)
  assert.deepEqual(
    rows.map((row) => ({ ...(row as object) })),
    [
      { container_id: 'a', name: '', bucket: 60_000, first: 1, second: 0, third: 0, difference: 1 },
      { container_id: 'a', name: odd, bucket: 60_000, first: 3, second: 0, third: 2 ** 54, difference: 3 },
      { container_id: 'b', name: 'other', bucket: 60_000, first: 0, second: 0, third: 1e21, difference: 0 },
    ],
  )
})
