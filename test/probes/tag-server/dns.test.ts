import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR } from '../../../src/lib/index.ts'
import {
  type DnsHistory,
  historyIn,
  historyInMemory,
  judgeMove,
  lookedUpName,
  networkOf,
  withAnswer,
} from '../../../src/probes/tag-server/dns.ts'
import { judgeTimes, withTime } from '../../../src/probes/tag-server/outside.ts'

const NETWORKS: readonly [address: string, network: string][] = [
  ['203.0.113.7', '203.0'],
  ['2606:4700:4700::1111', '2606:4700'],
  ['2606:4700::', '2606:4700'],
  ['2a00::1', '2a00:0'],
  ['2a00:0db8:1::1', '2a00:db8'],
  ['::1', '0:0'],
]
for (const [address, network] of NETWORKS) {
  test(`${address} is in the network ${network}`, () => assert.equal(networkOf(address), network))
}

test('only names are looked up', () => {
  assert.equal(lookedUpName('https://sst.example.:8443/a'), 'sst.example')
  for (const url of ['http://127.0.0.1', 'http://[::1]:80', 'http://0x7f.1']) assert.equal(lookedUpName(url), null)
})

/** Sees one address at a time, and returns how each is judged. */
function judgedIn(answers: readonly (readonly [at: number, ...addresses: string[]])[]): string[] {
  let history: DnsHistory = historyIn({}, 0)
  return answers.map(([at, ...addresses]) => {
    history = historyIn({ dns: historyInMemory(withAnswer(history, addresses, at)) }, at)
    return judgeMove('sst.example', history, addresses, at).status
  })
}

test('a host that answers with many networks is learned for a week', () => {
  const answers = Array.from({ length: 14 }, (_, n) => [n * 12 * HOUR, `${n + 1}.0.0.1`] as const)
  assert.ok(judgedIn(answers).every((status) => status === 'ok'))
})

test('one usual network among the answers is enough', () => {
  const [, second] = judgedIn([
    [0, '192.0.2.1'],
    [9 * DAY, '198.51.100.1', '192.0.3.1'],
  ])
  assert.equal(second, 'ok')
})

test('a move is reported for a day, and what was usual a month ago is forgotten', () => {
  const judged = judgedIn([
    [0, '192.0.2.1'],
    [8 * DAY, '198.51.100.1'],
    [8 * DAY + 23 * HOUR, '198.51.100.1'],
    [9 * DAY, '198.51.100.1'],
    [40 * DAY, '198.51.100.1'],
    [40 * DAY + HOUR, '192.0.2.1'],
  ])
  assert.deepEqual(judged, ['ok', 'warning', 'warning', 'ok', 'ok', 'warning'])
})

test('a name that leads somewhere else each time is remembered in part', () => {
  let history: DnsHistory = historyIn({}, 0)
  for (let n = 0; n < 300; n++) history = withAnswer(history, [`10.${n % 250}.0.1`, `11.${n % 250}.0.1`], n)
  assert.equal(Object.keys(history.networks).length, 200)
  assert.deepEqual(history.networks['11.49'], [299, 299])
})

test('what another version left in memory is not trusted', () => {
  const dns = { since: 'then', networks: { '192.0': [1, 2], '198.51': 3, '10.0': ['a'] } }
  assert.deepEqual(historyIn({ dns }, 5), { since: 5, networks: { '192.0': [1, 2] } })
  assert.deepEqual(historyIn({ dns: null }, 5), { since: 5, networks: {} })
})

const times = (...parts: readonly (readonly [count: number, ms: number])[]) =>
  parts.flatMap(([count, ms]) => Array.from({ length: count }, () => ms))
const TIMES: readonly [what: string, times: number[], isSlow: boolean][] = [
  ['three slow answers after ten', times([10, 400], [3, 1_300]), true],
  ['two slow answers after ten', times([11, 400], [2, 1_300]), false],
  ['slow answers after too few others', times([9, 400], [3, 1_300]), false],
  ['answers that are not three times as slow', times([10, 400], [3, 1_200]), false],
  ['answers that are slower, but fast all the same', times([10, 20], [3, 900]), false],
]
for (const [what, given, isSlow] of TIMES) {
  test(`${what} are ${isSlow ? 'a warning' : 'fine'}`, () => {
    assert.equal(judgeTimes('sst.example', given).findings.length, Number(isSlow))
  })
}

test('the latest 30 times are kept', () => assert.deepEqual(withTime(times([30, 1]), 2), [...times([29, 1]), 2]))
