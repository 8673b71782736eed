import type { UseFormReturnType } from '@mantine/form'
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { notifyOf } from './refusal.ts'
import { useUnsaved } from './use-unsaved.ts'

/** The faults that the service found in a form. */
interface Faults {
  /** By the form's field names, such as `config.slow_ms`. */
  fields: Record<string, string>
  /** Faults of no visible field. */
  rest: string | null
}

/**
 * Assigns the service's faults to a form's fields: `/config/hosts/0` belongs to `config.hosts`.
 *
 * @param names of the visible fields
 */
export function faultsOf(error: Error, names: readonly string[]): Faults {
  if (!(error instanceof ApiError)) return { fields: {}, rest: error.message }
  // The user has signed in again above the form when this is read.
  if (error.code === 'unauthorized') return { fields: {}, rest: 'Your session had ended: try again' }
  if (error.details.length === 0) return { fields: {}, rest: error.message }
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const { path, message } of error.details) {
    const place = path.slice(1).replaceAll('/', '.')
    const name = names.find((each) => place === each || place.startsWith(`${each}.`))
    if (name === undefined) rest.push(`${place} ${message}`.trim())
    else fields[name] ??= message
  }
  return { fields, rest: rest.length === 0 ? null : rest.join('; ') }
}

/**
 * After each refusal, scrolls to the first faulty field and focuses it, or the sentence that says why when no field is at fault.
 *
 * @param errors of the form, a new object for each refusal
 * @param rest faults of no field
 * @returns the ref for the form element
 */
function useFaultFocus(errors: object, rest: string | null): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (Object.keys(errors).length === 0 && rest === null) return
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    const place = field ?? form.current?.querySelector<HTMLElement>('[role="alert"]')
    // The field may be in a folded part of the form.
    const folded = place?.closest('details')
    if (folded) folded.open = true
    place?.scrollIntoView({ block: 'center' })
    field?.focus({ preventScroll: true })
  }, [errors, rest])
  return form
}

interface Saving {
  /** For the form element. */
  formRef: RefObject<HTMLFormElement | null>
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void
  isBusy: boolean
  /** Why it was refused, when no field shows it. */
  rest: string | null
}

/**
 * Saves a form and shows faults at its fields. Asks before unsaved input is lost.
 *
 * @param save rejects with an `ApiError` that names the faulty fields
 * @param namesOf returns the service's names of the visible fields
 * @param renamed the form's names of fields that the service names differently, by the service's name
 */
export function useSaving<Values extends object>(
  form: UseFormReturnType<Values>,
  save: (values: Values) => Promise<unknown>,
  namesOf: (values: Values) => readonly string[] = Object.keys,
  renamed: Readonly<Record<string, string>> = {},
): Saving {
  const [rest, setRest] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const formRef = useFaultFocus(form.errors, rest)
  useUnsaved(() => !isBusy && form.isDirty())
  const onSubmit = form.onSubmit(async (values) => {
    setRest(null)
    setBusy(true)
    try {
      await save(values)
      form.resetDirty()
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      // The form was closed or left, so nothing else would show the error.
      if (formRef.current === null) notifyOf('Not saved')(error)
      const faults = faultsOf(error, namesOf(values))
      form.setErrors(
        Object.fromEntries(Object.entries(faults.fields).map(([field, fault]) => [renamed[field] ?? field, fault])),
      )
      setRest(faults.rest)
    } finally {
      setBusy(false)
    }
  })
  return { formRef, onSubmit, isBusy, rest }
}
