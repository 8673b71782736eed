import { exact } from '../../lib/words.ts'
import classes from './Details.module.css'

interface Props {
  value: unknown
  zone: string | undefined
}

/** The details of a result as a person reads them: names as words, lists of likes as tables, times in the site's zone. */
export function Details({ value, zone }: Props) {
  if (Array.isArray(value)) return <List values={value} zone={zone} />
  if (isRecord(value)) return <Fields value={value} zone={zone} />
  return <span className={classes.value}>{plain(value, zone)}</span>
}

function Fields({ value, zone }: { value: Record<string, unknown>; zone: string | undefined }) {
  const entries = Object.entries(value)
  if (entries.length === 0) return <span className={classes.none}>nothing</span>
  return (
    <dl className={classes.fields}>
      {entries.map(([name, each]) => (
        <div key={name} className={classes.field} data-deep={isDeep(each) || undefined}>
          <dt>{words(name)}</dt>
          <dd>
            <Details value={each} zone={zone} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function List({ values, zone }: { values: readonly unknown[]; zone: string | undefined }) {
  if (values.length === 0) return <span className={classes.none}>none</span>
  if (!values.some(isDeep))
    return <span className={classes.value}>{values.map((each) => plain(each, zone)).join(', ')}</span>
  return (
    <ul className={classes.list}>
      {values.map((each) => (
        <li key={JSON.stringify(each)}>
          <Details value={each} zone={zone} />
        </li>
      ))}
    </ul>
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What does not fit into one line. */
const isDeep = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (Array.isArray(value) ? value.some(isDeep) : true)

const words = (name: string): string => {
  const text = name.replaceAll('_', ' ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/
const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

function plain(value: unknown, zone: string | undefined): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return numbers.format(value)
  const text = String(value)
  return ISO_TIME.test(text) ? exact(Date.parse(text), zone) : text
}
