import { Code } from '@mantine/core'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import { Card } from './Card.tsx'
import classes from './settings.module.css'
import { WithSettings } from './WithSettings.tsx'

const EXAMPLE = `SMTP_URL=smtp://user:password@mail.example.com:587
SMTP_FROM=Tagwarden <alerts@example.com>`

/** Whether e-mail goes out, and how to have it go out. */
export function EmailTab() {
  return (
    <WithSettings>
      {({ email_enabled }) => (
        <Card
          title="E-mail"
          about="Alerts and digests go to the e-mail address of each client that has one."
          actions={<StatusBadge status={email_enabled ? 'ok' : 'unknown'}>{email_enabled ? 'on' : 'off'}</StatusBadge>}
        >
          {email_enabled ? (
            <p className={classes.empty}>
              The service sends through the mail server of <code>SMTP_URL</code>. Whether it takes the messages stands
              under Channels, and a test message of a client shows it at once.
            </p>
          ) : (
            <div className={classes.empty}>
              <p>Nothing goes out by e-mail. To switch it on, start the service with these settings:</p>
              <Code block className={classes.code}>
                {EXAMPLE}
              </Code>
              <p>
                <code>smtps://…:465</code> is TLS from the start. The address may also stand in a file that{' '}
                <code>SMTP_URL_FILE</code> names. Then send a test message under Channels.
              </p>
            </div>
          )}
        </Card>
      )}
    </WithSettings>
  )
}
