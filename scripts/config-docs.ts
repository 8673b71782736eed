import { SETTINGS } from '../src/config.ts'

type AnySetting = (typeof SETTINGS)[keyof typeof SETTINGS]

const settings: readonly AnySetting[] = Object.values(SETTINGS)

/** `docs/configuration.md`, as Markdown. */
export function configurationPage(): string {
  return `# Configuration

<!-- Written by \`npm run docs\` from the table in src/config.ts; change the settings there. -->

Settings are environment variables. \`tagwarden\` also reads a file \`.env\` in the folder it is started from
([.env.example](../.env.example) lists everything); a variable that is already set wins over the file. All settings are
checked at start: a wrong value stops it with one line that names the variable, the value and what is allowed. An empty
value counts as unset. A variable that looks like a misspelt setting has no effect; the log names it at the start.

| Variable | Default | Meaning |
|---|---|---|
${settings.map(tableRow).join('\n')}

## Secrets

${sentenceList(settings.filter(({ secret }) => secret).map(({ name }) => `\`${name}\``))} are secrets: no message or log shows them.
Each may be given as a file instead, as container platforms mount them: \`NAME_FILE\` holds the path of a file with the
value, for example \`ADMIN_TOKEN_FILE=/run/secrets/admin_token\`. Setting both is an error, and so is an empty file.

## Who may reach it

By default only programs on the same machine reach the service, and management needs no key. To listen on any other address, or behind a
proxy (a \`PUBLIC_URL\` of another host, \`TRUST_PROXY\`), the service needs \`ADMIN_TOKEN\`, \`ADMIN_EMAIL\`, \`OIDC_ISSUER\` or
\`PROXY_EMAIL_HEADER\` ([access.md](access.md)), or \`ALLOW_UNAUTHENTICATED=true\` where something in front keeps strangers out; otherwise
the start stops and says so. Operations describes [which names it answers to](operations.md#security) while it needs no key, and
[what a proxy needs](operations.md#behind-another-proxy).
`
}

/** `.env.example`: every setting with its default, all commented out, so that the copy changes nothing. */
export function environmentExample(): string {
  const head = `# Copy to .env and uncomment what differs from the default. Environment variables take precedence over this file.
# Written by \`npm run docs\` from the table in src/config.ts.
`
  return [head, ...settings.map(exampleEntry)].join('\n')
}

function tableRow({ name, defaultText, meaning, secret }: AnySetting): string {
  const names = secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``
  const fallback = defaultText === UNSET ? UNSET : `\`${defaultText}\``
  return `| ${names} | ${fallback} | ${meaning.replaceAll('|', '\\|')} |`
}

function exampleEntry({ name, defaultText, meaning }: AnySetting): string {
  return `# ${meaning}\n#${name}=${defaultText === UNSET ? '' : defaultText}\n`
}

const UNSET = 'unset'

const sentenceList = (words: readonly string[]): string => new Intl.ListFormat('en').format(words)
