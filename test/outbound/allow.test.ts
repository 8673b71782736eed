import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOutboundAllow } from '../../src/outbound/index.ts'

test('addresses, ranges and host names are distinguished, and come in one spelling', () => {
  const { ranges, hosts } = parseOutboundAllow(
    ' 10.0.0.0/8,127.0.0.1, ::1,fc00::/7 ,,Status.Internal.,redis,my_host,münchen.example,a-b.c0',
  )
  assert.deepEqual(
    ranges.map(([address, bits]) => `${address}/${bits}`),
    ['10.0.0.0/8', '127.0.0.1/32', '::1/128', 'fc00::/7'],
  )
  assert.deepEqual(hosts, ['status.internal', 'redis', 'my_host', 'xn--mnchen-3ya.example', 'a-b.c0'])
})

for (const text of [undefined, '', ' ', ', ,']) {
  test(`nothing is allowed by ${JSON.stringify(text)}`, () => {
    assert.deepEqual(parseOutboundAllow(text), { ranges: [], hosts: [] })
  })
}

const REFUSED = [
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0.0/255.0.0.0',
  '::/129',
  'fe80::1%eth0',
  '[::1]',
  // Odd spellings of addresses, which as host names would allow nothing.
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '256.0.0.1',
  '1.2.3.4.5',
  'localhost:8080',
  '10.0.0.1:80',
  'http://localhost',
  'localhost/8',
  '*.internal',
  'a..b',
  '.internal',
  'a b',
  'user@host',
]
for (const entry of REFUSED) {
  test(`refused by name, with what is allowed: ${entry}`, () => {
    assert.throws(() => parseOutboundAllow(`10.0.0.0/8,${entry},localhost`), {
      message:
        'must be host names, addresses and CIDR ranges separated by commas (10.0.0.0/8,127.0.0.1,status.internal): ' +
        `${JSON.stringify(entry)} is none of them`,
    })
  })
}
