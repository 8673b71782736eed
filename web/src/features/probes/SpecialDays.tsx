import { Button, Group, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useId, useRef } from 'react'
import {
  type SpecialDaysRecord,
  specialDaysQuery,
  useMarkSpecialDays,
  useUnmarkSpecialDays,
} from '../../api/annotations.ts'
import { useSession } from '../../api/session.ts'
import { faultsOf } from '../../lib/form-faults.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'
import { personName } from '../../lib/words.ts'
import { useFocusKept } from '../../ui/Dialog.tsx'
import { Awaited } from '../../ui/States.tsx'
import classes from './expectation.module.css'

/** Days of a site from which probes must not learn: a sale, a local holiday, a relaunch. */
export function SpecialDays({ siteId, zone }: { siteId: string; zone: string | undefined }) {
  const id = useId()
  const { mayChange } = useSession()
  const { data, error, refetch } = useQuery(specialDaysQuery(siteId))
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <header className={classes.head}>
        <h2 id={id}>Special days</h2>
        <span className={classes.note}>left out of what is usual, and only silence is judged on them</span>
      </header>
      {data === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={64} />
      ) : (
        <MarkedDays siteId={siteId} days={data} mayChange={mayChange} />
      )}
      {mayChange && <MarkDays siteId={siteId} zone={zone} />}
    </section>
  )
}

interface MarkedDaysProps {
  siteId: string
  days: readonly SpecialDaysRecord[]
  mayChange: boolean
}

function MarkedDays({ siteId, days, mayChange }: MarkedDaysProps) {
  const unmark = useUnmarkSpecialDays(siteId)
  useFocusKept(days.length)
  if (days.length === 0) {
    return <p className={classes.note}>Public holidays of the site's country are known; no other days are marked.</p>
  }
  return (
    <ul className={classes.days}>
      {days.map(({ id, first_day, last_day, note, created_by }) => (
        <li key={id}>
          <span>{inWords(first_day, last_day)}</span>
          <span className={classes.note}>
            {note === null ? '' : `${note}, `}marked by {personName(created_by)}
          </span>
          {mayChange && (
            <Button
              size="compact-sm"
              variant="subtle"
              aria-label={`Remove ${inWords(first_day, last_day)}`}
              loading={unmark.isPending && unmark.variables === id}
              onClick={() =>
                unmark.mutate(id, {
                  onError: notifyOf('Not removed'),
                })
              }
            >
              Remove
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const dayInWords = (day: string): string => format.format(Date.parse(day))
const inWords = (first: string, last: string): string =>
  first === last ? dayInWords(first) : `${dayInWords(first)} to ${dayInWords(last)}`

const EMPTY = { first_day: '', last_day: '', note: '' }

function MarkDays({ siteId, zone }: { siteId: string; zone: string | undefined }) {
  const mark = useMarkSpecialDays(siteId)
  const form = useForm({ mode: 'uncontrolled', initialValues: EMPTY })
  const formRef = useRef<HTMLFormElement>(null)
  useUnsaved(() => !mark.isPending && form.isDirty())
  const save = form.onSubmit(async (values) => {
    const { first_day, last_day, note } = values
    try {
      await mark.mutateAsync({ first_day, ...(last_day !== '' && { last_day }), ...(note.trim() !== '' && { note }) })
      // What was typed on meanwhile is not saved.
      if (JSON.stringify(form.getValues()) === JSON.stringify(values)) form.reset()
    } catch (thrown) {
      const { fields, rest } = faultsOf(thrown as Error, formRef.current === null ? [] : Object.keys(EMPTY))
      form.setErrors(fields)
      if (rest !== null) notifyOf('Not marked')({ message: rest })
    }
  })
  return (
    <form ref={formRef} onSubmit={save} aria-label="Mark special days">
      <Group align="flex-start" gap="sm" mt="sm">
        <TextInput
          type="date"
          label="First day"
          description={zone}
          required
          key={form.key('first_day')}
          {...form.getInputProps('first_day')}
        />
        <TextInput
          type="date"
          label="Last day"
          description="Empty: one day"
          key={form.key('last_day')}
          {...form.getInputProps('last_day')}
        />
        <TextInput
          label="What is special"
          description="Black Friday"
          maxLength={200}
          key={form.key('note')}
          {...form.getInputProps('note')}
        />
      </Group>
      <Button type="submit" size="compact-sm" variant="default" mt="sm" loading={mark.isPending}>
        Mark as special
      </Button>
    </form>
  )
}
