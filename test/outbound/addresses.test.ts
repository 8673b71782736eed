import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireAllowed } from '../../src/outbound/allow.ts'
import { parseOutboundAllow } from '../../src/outbound/index.ts'
import { countSockets, failureOf, httpServer, testOutbound } from './support.ts'

const NONE_OWN = () => false

/** Addresses by the range that allows them, written as a URL may hold them or a resolver may answer. */
const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.0/8': ['127.0.0.1', '127.1.2.3', '127.255.255.255'],
  '0.0.0.0/8': ['0.0.0.0', '0.1.2.3'],
  '10.0.0.0/8': ['10.0.0.1', '10.255.255.255'],
  '172.16.0.0/12': ['172.16.0.1', '172.31.255.255'],
  '192.168.0.0/16': ['192.168.0.1', '192.168.255.255'],
  '169.254.0.0/16': ['169.254.169.254', '169.254.170.2', '169.254.0.1'],
  '100.64.0.0/10': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  '192.0.0.0/24': ['192.0.0.1', '192.0.0.192'],
  '192.0.2.0/24': ['192.0.2.1'],
  '198.51.100.0/24': ['198.51.100.7'],
  '203.0.113.0/24': ['203.0.113.7'],
  '198.18.0.0/15': ['198.18.0.1', '198.19.255.255'],
  '192.88.99.0/24': ['192.88.99.1'],
  '224.0.0.0/4': ['224.0.0.1', '239.255.255.255'],
  '240.0.0.0/4': ['240.0.0.1', '255.255.255.255'],
  '168.63.129.16': ['168.63.129.16'],
  '::1': ['::1', '0:0:0:0:0:0:0:1'],
  '::/128': ['::'],
  'fe80::/10': ['fe80::1', 'febf::1'],
  'fc00::/7': ['fc00::1', 'fd00:ec2::254', 'fd20:ce::254'],
  'fec0::/10': ['fec0::1'],
  'ff00::/8': ['ff02::1', 'ff0e::1'],
  '2001:db8::/32': ['2001:db8::1'],
  '3fff::/20': ['3fff::1'],
  '2001::/23': ['2001:2::1', '2001:20::1', '2001:1::1'],
  '100::/64': ['100::1'],
  '5f00::/16': ['5f00::1'],
  '4000::/3': ['4000::1'],
  // IPv6 addresses that are, hold or tunnel to IPv4 ones.
  '::/96': ['::127.0.0.1', '::8.8.8.8', '::a00:1'],
  '::ffff:0:0:0/96': ['::ffff:0:127.0.0.1'],
  '2002::/16': ['2002:7f00:1::', '2002:a00:1::1', '2002:a9fe:a9fe::'],
  '2001::/32': ['2001:0:7f00:1::', '2001:0:0:0:0:0:f5ff:fffe'],
  '64:ff9b:1::/48': ['64:ff9b:1::7f00:1'],
}
/** The same as IPv4: allowed by the range of either. */
const FORBIDDEN_EMBEDDED: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.0/8': ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:7f00:0001', '64:ff9b::127.0.0.1'],
  '10.0.0.0/8': ['::ffff:10.0.0.1', '64:ff9b::a00:1'],
  '169.254.169.254': ['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe'],
  '::ffff:0:0/96': ['::ffff:192.168.1.1'],
  '64:ff9b::/96': ['64:ff9b::192.168.1.1'],
  '168.63.129.16': ['::ffff:168.63.129.16', '64:ff9b::a83f:8110'],
}
const TABLE = [...Object.entries(FORBIDDEN), ...Object.entries(FORBIDDEN_EMBEDDED)].flatMap(([range, addresses]) =>
  addresses.map((address) => ({ range, address })),
)

for (const { range, address } of TABLE) {
  test(`${address} is not connected to, neither directly nor through a name, unless ${range} is allowed`, async (t) => {
    const opened = countSockets(t)
    const outbound = testOutbound('', { 'name.example': [address], 'mixed.example': ['93.184.215.14', address] })
    const literal = address.includes(':') ? `[${address}]` : address
    for (const host of [literal, 'name.example', 'mixed.example']) {
      for (const scheme of ['http', 'https']) {
        const failure = await failureOf(outbound.request(`${scheme}://${host}/?key=s3cret`))
        assert.equal(failure.kind, 'forbidden_address', `${scheme}://${host}: ${failure.message}`)
        assert.doesNotMatch(failure.message, /s3cret/)
      }
    }
    assert.equal(opened(), 0)
    for (const host of [address, 'name.example']) requireAllowed(host, [address], parseOutboundAllow(range), NONE_OWN)
    requireAllowed('name.example', [address], parseOutboundAllow('name.example'), NONE_OWN)
  })
}

/** Spellings of 127.0.0.1 and the like: as URLs, because it is the URL's parser that undoes them. */
const SPELLINGS = [
  'http://127.1',
  'http://127.0.1',
  'http://2130706433',
  'http://017700000001',
  'http://0x7f000001',
  'http://0x7f.1',
  'http://0x7f.0x0.0x0.0x1',
  'http://0177.0.0.1',
  'http://0177.0.0.01',
  'http://127.0.0.1.',
  'http://127.000.000.001',
  'http://0',
  'http://0x0',
  'http://0.0.0.0',
  'http://１２７.0.0.1',
  'http://127。0。0。1',
  'http://①②⑦.⓪.⓪.①',
  'http://127.0.0.1%2e',
  'http://%31%32%37.0.0.1',
  'http:\\\\127.0.0.1',
  'http:/127.0.0.1',
  'http:127.0.0.1',
  '  http://127.0.0.1',
  'ht\ntp://127.0.\t0.1',
  'HTTP://LOCALHOST',
  'http://localhost',
  'http://localhost.',
  'http://LocalHost',
  'http://ⓛocalhost',
  'http://a.localhost',
  'http://a.b.localhost.',
  'http://localhost.localdomain',
  'http://printer.local',
  'http://metadata.google.internal',
  'http://metadata.google.internal.',
  'http://instance-data.ec2.internal',
  'http://router.home.arpa',
]
for (const spelling of SPELLINGS) {
  test(`${JSON.stringify(spelling)} does not reach a server here, whatever the resolver answers`, async (t) => {
    const canary = await httpServer(t, (_request, response) => response.end('reached'))
    const url = withPort(spelling, canary.port)
    for (const answer of ['127.0.0.1', '93.184.215.14']) {
      const opened = countSockets(t)
      const failure = await failureOf(testOutbound('', {}, async () => [answer]).request(url))
      assert.equal(failure.kind, 'forbidden_address', failure.message)
      assert.equal(opened(), 0)
    }
    assert.equal(canary.connections(), 0)
  })
}

for (const spelling of SPELLINGS.filter((url) => !/\D0(x0)?$|0\.0\.0\.0/.test(url))) {
  test(`${JSON.stringify(spelling)} reaches a server here when OUTBOUND_ALLOW has its address`, async (t) => {
    const canary = await httpServer(t, (_request, response) => response.end('reached'))
    const outbound = testOutbound('127.0.0.1', {}, async () => ['127.0.0.1'])
    assert.equal((await outbound.request(withPort(spelling, canary.port))).body, 'reached')
    assert.equal(canary.connections(), 1)
  })
}

/** Puts the port behind the host, which `URL` would write in its usual spelling. */
const withPort = (url: string, port: number): string => `${url}:${port}/`

test('a name in OUTBOUND_ALLOW allows whatever it leads to, and no other name the same address', async (t) => {
  const server = await httpServer(t, (_request, response) => response.end('reached'))
  const names = { 'status.internal': ['127.0.0.1'], 'other.internal': ['127.0.0.1'], 'sub.status.internal': ['::1'] }
  const outbound = testOutbound('Status.Internal.', names)
  assert.equal((await outbound.request(`http://STATUS.internal.:${server.port}/`)).body, 'reached')
  for (const host of ['other.internal', 'sub.status.internal', '127.0.0.1']) {
    assert.equal((await failureOf(outbound.request(`http://${host}:${server.port}/`))).kind, 'forbidden_address')
  }
  assert.equal(server.connections(), 1)
})

test('a name is looked up once: what a second look would find is neither used nor trusted', async (t) => {
  const server = await httpServer(t, (_request, response) => response.end('reached'))
  const opened = countSockets(t)
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.2'], ['127.0.0.1']]
  let asked = 0
  const outbound = testOutbound('127.0.0.1', { 'rebinding.example': () => answers[asked++] ?? [] })
  const url = `http://rebinding.example:${server.port}/`
  assert.equal((await outbound.request(url)).body, 'reached')
  assert.equal(asked, 1)
  assert.equal((await failureOf(outbound.request(url))).kind, 'forbidden_address')
  assert.equal((await failureOf(outbound.request(url))).kind, 'forbidden_address')
  assert.equal(opened(), 1)
  assert.equal((await outbound.request(url)).body, 'reached')
  assert.equal(server.connections(), 2)
})

test('what a resolver answers that is no address is not connected to', async (t) => {
  const opened = countSockets(t)
  for (const answer of ['', 'localhost', '127.1', '0x7f.0.0.1', '/var/run/docker.sock', 'fe80::1%lo', '::1%lo']) {
    const outbound = testOutbound('10.0.0.0/8', { 'odd.example': [answer] })
    assert.equal((await failureOf(outbound.request('http://odd.example/'))).kind, 'forbidden_address', answer)
  }
  assert.equal((await failureOf(testOutbound('', { 'none.example': [] }).request('http://none.example/'))).kind, 'dns')
  assert.equal(opened(), 0)
})

test('an error does not reveal the address a name leads to, only its kind', async () => {
  const failure = await failureOf(testOutbound('', { 'db.corp': ['10.20.30.40'] }).request('http://db.corp:5000/a?b=c'))
  assert.equal(
    failure.message,
    'db.corp points to a private network, which must not be reached from here: to allow it, add it to OUTBOUND_ALLOW',
  )
})

test('addresses of the open internet pass', () => {
  const open = ['8.8.8.8', '1.1.1.1', '93.184.215.14', '172.15.0.1', '172.32.0.1', '100.128.0.1', '11.0.0.1']
  const openIpv6 = [
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2001:4860::8888',
  ]
  for (const address of [...open, ...openIpv6]) requireAllowed(address, [address], parseOutboundAllow(''), NONE_OWN)
})

const BAD_URLS = [
  '',
  'example.com',
  '//example.com',
  'http://',
  'http://[fe80::1%25eth0]/',
  'http://[::1',
  'http://256.256.256.256/',
  'http://1.2.3.4.5/',
  'http://exa mple.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_INFO',
  'data:text/plain,a',
  'javascript:alert(1)',
  'unix:/var/run/docker.sock',
  'ws://example.com/',
  'http://user@example.com/',
  'http://user:secret@example.com/',
  'https://example.com@127.0.0.1/',
  'http://example.com:25/',
  'http://example.com:6667/',
  'http://example.com:0/',
  'http://example.com:65536/',
]
for (const url of BAD_URLS) {
  test(`${JSON.stringify(url)} is refused before anything is looked up`, async (t) => {
    const opened = countSockets(t)
    const outbound = testOutbound('0.0.0.0/0,::/0', {}, () => assert.fail('was looked up'))
    const failure = await failureOf(outbound.request(url))
    assert.equal(failure.kind, 'bad_url', failure.message)
    assert.doesNotMatch(failure.message, /secret/)
    assert.equal(opened(), 0)
  })
}
