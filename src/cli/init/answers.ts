import { randomBytes } from 'node:crypto'
import { parseEnv } from 'node:util'
import { type Environment, isLoopback, readConfig, SETTINGS } from '../../config.ts'
import { StartupError } from '../../lib/index.ts'

/** The answers to the questions of `tagwarden init`. */
export interface Answers {
  /** Empty means only this machine. */
  publicUrl: string
  /** A folder, or the address of a PostgreSQL database. */
  data: string
  /** `random` makes one; `none` means that no one needs a key. */
  adminToken: string
  /** Empty means none. */
  chatWebhook: string
}

export type Name = keyof Answers

export interface Question {
  name: Name
  text: string
  /** What an empty answer means. */
  fallback: (before: Partial<Answers>) => string
  /** @throws Error or StartupError that says what is allowed */
  check: (answer: string, before: Partial<Answers>) => void
}

const DATA_DIR = './data'
const ADDRESS = /^postgres(ql)?:\/\//

/** In the order in which they are asked: the default of the token depends on who can reach the service. */
export const QUESTIONS: readonly Question[] = [
  {
    name: 'publicUrl',
    text: 'At which https address will people and tags reach it? (empty: only this machine, to try it)',
    fallback: () => '',
    check: (answer) => void SETTINGS.publicUrl.parse(answer === '' ? undefined : answer),
  },
  {
    name: 'data',
    text: 'Where should the data go: a folder, or postgres://user:password@host:5432/database?',
    fallback: () => DATA_DIR,
    check(answer) {
      if (ADDRESS.test(answer)) SETTINGS.databaseUrl.parse(answer)
      else if (answer.includes('://')) throw new Error('must be a folder, or an address that begins with postgres://')
    },
  },
  {
    name: 'adminToken',
    text: 'Which key lets people in: one of your own (16 characters or more), random, or none?',
    fallback: ({ publicUrl = '' }) => (publicUrl === '' ? 'none' : 'random'),
    check(answer, before) {
      readConfig(environmentOf({ ...before, adminToken: answer === 'random' ? randomToken() : answer }))
    },
  },
  {
    name: 'chatWebhook',
    text: 'Which chat webhook receives all alerts, of Slack, Teams, Discord or Google Chat? (empty: none for now)',
    fallback: () => '',
    check: (answer) => void SETTINGS.chatWebhookUrl.parse(answer === '' ? undefined : answer),
  },
]

/** As hard to guess as `openssl rand -hex 32`. */
const randomToken = (): string => randomBytes(32).toString('hex')

/** Replaces the word `random` with a token. */
export const withToken = (answers: Answers): Answers =>
  answers.adminToken === 'random' ? { ...answers, adminToken: randomToken() } : answers

/** The settings that the answers mean, without those that have no value or were not asked yet. */
function environmentOf({ publicUrl = '', data = '', adminToken = 'none', chatWebhook = '' }: Partial<Answers>) {
  const isProxied = publicUrl !== '' && !isLoopback(new URL(publicUrl).hostname)
  const settings: Environment = {
    PUBLIC_URL: publicUrl,
    TRUST_PROXY: isProxied ? 'loopback' : '',
    ...(ADDRESS.test(data) ? { DATABASE_URL: data } : { DATA_DIR: data }),
    ADMIN_TOKEN: adminToken === 'none' ? '' : adminToken,
    CHAT_WEBHOOK_URL: chatWebhook,
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''))
}

/** The comment above each setting, for anyone who reads the file in a year. */
const COMMENTS: readonly [name: string, comment: string, unset: string][] = [
  [
    'PUBLIC_URL',
    'Where people and tags reach Tagwarden. The tag sends to https only: put a proxy with a certificate in front.',
    'https://tagwarden.example.com',
  ],
  [
    'TRUST_PROXY',
    'The proxy, whose X-Forwarded-For is trusted. On another machine: its address; and HOST=0.0.0.0, so that it reaches this one.',
    'loopback',
  ],
  ['DATA_DIR', 'Where the SQLite database lives; back it up with "tagwarden backup".', DATA_DIR],
  ['DATABASE_URL', 'PostgreSQL instead of DATA_DIR: for several nodes.', 'postgres://user:password@host:5432/database'],
  ['ADMIN_TOKEN', 'Signs people in on the dashboard, and is the bearer token of the API.', ''],
  ['CHAT_WEBHOOK_URL', "Receives the alerts of every client; clients' own channels are set on the dashboard.", ''],
]

/**
 * The text of the `.env`, checked by `readConfig`.
 *
 * @throws StartupError as starting the service would, or when a value cannot be written in such a file
 */
export function envText(answers: Answers): string {
  const settings = environmentOf(answers)
  readConfig(settings)
  const parts = COMMENTS.map(([name, comment, unset]) => {
    const value = settings[name]
    return `# ${comment}\n${value === undefined ? `#${name}=${unset}` : `${name}=${quoted(name, value)}`}\n`
  })
  const text = [
    '# Settings of Tagwarden, written by "tagwarden init". Environment variables take precedence over this file.\n' +
      '# It may hold secrets: keep it out of version control. All settings: docs/configuration.md.\n',
    ...parts,
  ].join('\n')
  return text
}

/** The value, quoted only when it could not be read back otherwise: Docker takes quotes in such a file as part of the value. */
function quoted(name: string, value: string): string {
  const forms = [value, `'${value}'`, `"${value}"`, `\`${value}\``]
  const form = forms.find((written) => parseEnv(`${name}=${written}\n`)[name] === value)
  if (form === undefined) throw new StartupError(`${name} has characters that a .env file cannot hold`)
  return form
}
