import { counted } from '../../lib/words.ts'
import { Card } from './Card.tsx'
import { FactList } from './FactList.tsx'
import { WithSettings } from './WithSettings.tsx'

/** What is kept for how long. */
export function RetentionTab() {
  return (
    <WithSettings>
      {({ retention: { minute_days, hour_days, result_days } }) => (
        <Card title="Retention" about="Older data is deleted automatically. The service's settings decide how old.">
          <FactList
            facts={[
              { name: 'Counts by the minute', value: counted(minute_days, 'day'), setting: 'RETENTION_MINUTE_DAYS' },
              { name: 'Counts by the hour', value: counted(hour_days, 'day'), setting: 'RETENTION_HOUR_DAYS' },
              {
                name: 'Results of probes, alerts that are over, messages',
                value: counted(result_days, 'day'),
                setting: 'RETENTION_RESULT_DAYS',
              },
            ]}
          />
        </Card>
      )}
    </WithSettings>
  )
}
