import type { OnCallRecord, SetOnCall } from '../../api/on-call.ts'

/** The values of a rotation's form. */
export interface RotationValues {
  people: { id: string; name: string; email: string; channel_id: string }[]
  timezone: string
  handover_weekday: string
  handover_time: string
  starts_on: string
  /** Minutes; empty means never. */
  escalate_after_minutes: number | string
}

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

export const NEW_PERSON = { id: '', name: '', email: '', channel_id: '' }

/** @param today `YYYY-MM-DD`, the first day of a new rotation */
export function rotationValues(rotation: OnCallRecord['rotation'], zone: string, today: string): RotationValues {
  if (rotation === null) {
    return {
      people: [NEW_PERSON],
      timezone: zone,
      handover_weekday: '1',
      handover_time: '09:00',
      starts_on: today,
      escalate_after_minutes: 15,
    }
  }
  return {
    people: rotation.people.map(({ id, name, email, channel_id }) => ({
      id,
      name,
      email: email ?? '',
      channel_id: channel_id ?? '',
    })),
    timezone: rotation.timezone,
    handover_weekday: String(rotation.handover_weekday),
    handover_time: rotation.handover_time,
    starts_on: rotation.starts_on,
    escalate_after_minutes: rotation.escalate_after_minutes ?? '',
  }
}

export const rotationBody = (values: RotationValues): SetOnCall => ({
  people: values.people.map(({ id, name, email, channel_id }) => ({
    ...(id !== '' && { id }),
    name,
    email: email.trim() === '' ? null : email.trim(),
    channel_id: channel_id === '' ? null : channel_id,
  })),
  timezone: values.timezone,
  handover_weekday: Number(values.handover_weekday),
  handover_time: values.handover_time,
  starts_on: values.starts_on,
  escalate_after_minutes: values.escalate_after_minutes === '' ? null : Number(values.escalate_after_minutes),
})
