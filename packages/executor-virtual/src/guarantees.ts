import { type GuaranteeLevel, guaranteeFields, type Guarantees } from '@ws/core/executor'

/** There is no process: every effect of a command is a workspace operation. */
export const guarantees = Object.fromEntries(
  guaranteeFields.map((field) => [field, 'interpreter' satisfies GuaranteeLevel]),
) as Record<keyof Guarantees, 'interpreter'>
