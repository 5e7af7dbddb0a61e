export { dateable, settable, tarTime as forTar } from './base/admission.ts'
