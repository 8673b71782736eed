import { Text } from '@mantine/core'
import { useNow } from '../../lib/use-now.ts'
import { type FormValues, scheduleOf } from './form.ts'
import { occurrencesIn } from './week.ts'
import { windowWords } from './words.ts'

/** Further than any that can be planned, ms. */
const AHEAD = 400 * 86_400_000
const TWO_WEEKS = 14 * 86_400_000

/** When it will be, as it is typed now. */
export function Preview({ values, zone }: { values: FormValues; zone: string }) {
  const now = useNow()
  const ahead = values.kind === 'once' ? AHEAD : TWO_WEEKS
  const [next] = occurrencesIn(scheduleOf(values, zone), { from: now, to: now + ahead })
  const inZone = values.kind === 'once' ? zone : values.timezone
  return (
    <Text size="sm" c="dimmed" role="status">
      {next === undefined
        ? 'As entered, this never takes effect.'
        : `${next.from <= now ? 'Quiet now' : 'Next'}: ${windowWords(
            { starts_at: new Date(next.from).toISOString(), ends_at: new Date(next.to).toISOString() },
            inZone,
          )}`}
    </Text>
  )
}
