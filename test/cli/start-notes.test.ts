import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startNotes } from '../../src/cli/serve.ts'
import { type Environment, readConfig } from '../../src/config.ts'

const ADDRESS = 'http://127.0.0.1:8080'
const notesOf = (environment: Environment) => startNotes(readConfig(environment), ADDRESS)

test('a start with nothing set says where the dashboard is, and what is off or open', () => {
  assert.deepEqual(notesOf({}), [
    'Dashboard: http://127.0.0.1:8080/',
    'E-mail is off: SMTP_URL is not set',
    'No chat channel for all clients: CHAT_WEBHOOK_URL is not set (each client can have its own)',
    'Management is open: anyone who can reach http://127.0.0.1:8080 can change everything, because ADMIN_TOKEN is not set',
  ])
})

test('a start with everything set says where the dashboard is', () => {
  const environment = {
    PUBLIC_URL: 'https://tagwarden.example.com',
    ADMIN_TOKEN: 'admin-token-0123456789',
    SMTP_URL: 'smtp://mail.example.com:587',
    SMTP_FROM: 'alerts@example.com',
    CHAT_WEBHOOK_URL: 'https://hooks.example.com/T0/B0/key',
  }
  assert.deepEqual(notesOf(environment), ['Dashboard: https://tagwarden.example.com/'])
})

test('a node that only takes ingest has no dashboard to show', () => {
  assert.deepEqual(notesOf({ ROLE: 'ingest', DATABASE_URL: 'postgres://db.example.com/tagwarden' }), [])
})
