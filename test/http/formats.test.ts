import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMATS } from '../../src/http/formats.ts'

const EXAMPLES: Record<string, { good: string[]; bad: string[] }> = {
  uuid: {
    good: ['7d444840-9dc0-41d1-b245-5ffdce74fad2', '00000000-0000-4000-8000-000000000000'],
    bad: ['', 'nope', '7d4448409dc041d1b2455ffdce74fad2', '7d444840-9dc0-41d1-b245-5ffdce74fad2\n'],
  },
  email: {
    good: [
      'ops@acme.example',
      'jürgen@müller.example',
      '用户@例え.jp',
      'first.last+tag@mail.acme-shop.co.uk',
      `${'a'.repeat(64)}@example.com`,
    ],
    bad: [
      '',
      'nope',
      'ops@',
      '@acme.example',
      'ops@localhost',
      'ops@acme.exa\u202emple',
      'ops,all@acme.example',
      'a b@acme.example',
      'a@b@acme.example',
      '.ops@acme.example',
      'ops.@acme.example',
      'o..ps@acme.example',
      'ops@-acme.example',
      'ops@acme-.example',
      'ops@acme..example',
      'ops@acme.example\r\nBcc: all@acme.example',
      `${'a'.repeat(300)}@example.com`,
    ],
  },
  'email-list': {
    good: ['ops@acme.example', 'a@acme.example, b@acme.example,c@acme.example'],
    bad: [
      '',
      ',',
      'a@acme.example,',
      'a@acme.example;b@acme.example',
      'a@acme.example, nope',
      Array.from({ length: 11 }, (_, n) => `a${n}@acme.example`).join(', '),
    ],
  },
  'http-url': {
    good: [
      'https://shop.example',
      'http://localhost:8080/path?query=1#part',
      'HTTPS://SHOP.EXAMPLE/',
      'https://müller.example/ä',
    ],
    bad: [
      '',
      'shop.example',
      'ftp://shop.example',
      'javascript:alert(1)',
      'https://',
      'https:shop.example',
      'https:///path',
      ' https://shop.example',
      'https://shop.example/a b',
      'https://shop.example:99999',
      'https://ops@shop.example',
      'https://ops:secret@shop.example/',
      'https://:secret@shop.example/',
      `https://shop.example/${'a'.repeat(2_100)}`,
    ],
  },
  'date-time': {
    good: ['2026-11-20T09:40:00.000Z', '2026-11-20T09:40:00Z', '2026-11-20T10:40+01:00', '2028-02-29T00:00:00Z'],
    bad: [
      '',
      'yesterday',
      '2026-11-20',
      '2026-11-20T09:40:00',
      '2026-13-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-11-20T25:00:00Z',
      '2026-11-20 09:40:00Z',
    ],
  },
  date: {
    good: ['2026-11-27', '2028-02-29'],
    bad: ['2026-02-30', '2026-11-27T00:00:00Z', '27.11.2026', '2026-1-1', ''],
  },
  'time-zone': {
    good: ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'],
    bad: ['', 'Mars/Olympus', '+01:00', 'Europe/Berlin ', 'local'],
  },
  currency: { good: ['EUR', 'USD', 'JPY'], bad: ['', 'eur', 'EURO', 'XYZ', ' EUR', '€'] },
}

for (const [name, { good, bad }] of Object.entries(EXAMPLES)) {
  for (const text of good) {
    test(`the format ${name} takes ${JSON.stringify(text.slice(0, 60))}`, () => {
      assert.equal(FORMATS[name]?.test(text), true)
    })
  }
  for (const text of bad) {
    test(`the format ${name} refuses ${JSON.stringify(text.slice(0, 60))}`, () => {
      assert.equal(FORMATS[name]?.test(text), false)
    })
  }
}

test('every format has an example here', () => {
  assert.deepEqual(Object.keys(EXAMPLES).sort(), Object.keys(FORMATS).sort())
})
