import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD_COST, Passwords, requireFit } from '../../src/accounts/passwords.ts'
import { agentClass } from '../../src/accounts/sessions.ts'

/** As little as scrypt can cost. */
const CHEAP = { ln: 4, r: 8, p: 1 }
const SENTENCE = 'correct horse battery staple'

test('a password is right for its hash and no other, and its hash says what it cost', async () => {
  const passwords = new Passwords(CHEAP)
  const [one, other] = [await passwords.hash(SENTENCE), await passwords.hash(SENTENCE)]
  assert.match(one, /^\$scrypt\$ln=4,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/)
  assert.notEqual(one, other)
  assert.ok(await passwords.isRight(SENTENCE, one))
  assert.ok(!(await passwords.isRight(`${SENTENCE} `, one)))
})

test('without a password there is no right one, after the same work', async () => {
  const passwords = new Passwords(CHEAP)
  assert.ok(!(await passwords.isRight('', null)))
  assert.ok(!(await passwords.isRight(SENTENCE, null)))
})

test('letters that are composed in another way are the same', async () => {
  const passwords = new Passwords(CHEAP)
  const hash = await passwords.hash('caf\u00e9 au lait, please')
  assert.ok(await passwords.isRight('cafe\u0301 au lait, please', hash))
})

test('a hash that was cheaper to make is outdated, and stays right', async () => {
  const old = await new Passwords(CHEAP).hash(SENTENCE)
  const now = new Passwords({ ...CHEAP, p: 2 })
  assert.ok(now.isOutdated(old))
  assert.ok(await now.isRight(SENTENCE, old))
  assert.ok(!now.isOutdated(await now.hash(SENTENCE)))
  assert.ok(new Passwords(PASSWORD_COST).isOutdated(old))
})

const UNFIT = ['ada@agency.example', 'ADA LOVELACE', 'aaaaaaaaaaaaaaaa', 'abababababab']
for (const password of UNFIT) {
  test(`${password} is no fit password of ada@agency.example`, () => {
    const person = { email: 'ada@agency.example', name: 'Ada Lovelace' }
    assert.throws(() => requireFit(password, person), /harder to guess/)
    requireFit(SENTENCE, person)
  })
}

const AGENTS: [agent: string | undefined, kept: string | null][] = [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox on Linux'],
  ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36 Edg/126.0', 'Edge on Windows'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Mobile/15E148 Safari/604.1', 'Safari on iOS'],
  ['Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36', 'Chrome on Android'],
  ['curl/8.5.0', null],
  [undefined, null],
]
for (const [agent, kept] of AGENTS) {
  test(`of the browser ${agent?.slice(0, 40) ?? 'without a name'} is kept ${kept}`, () =>
    assert.equal(agentClass(agent), kept))
}

test('a password costs what OWASP asks for unless a test says otherwise', async () => {
  assert.match(await new Passwords().hash(SENTENCE), /^\$scrypt\$ln=15,r=8,p=3\$/)
})
