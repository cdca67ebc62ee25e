from dg2 import *
from scipy.special import erf
cum=lambda t: .5*(1+erf((t-DEL)/(SIG*np.sqrt(2))))
M=np.array(((.3,.8),(.8,-.5)))
def grads(R,s,q,d,src):
    c=radial2(s,q)/R**2
    def dk(d2): # d phi / d(d2)
        z=d2/R**2; w=np.clip(1-z,0,None); P=sum(c[j]*z**j for j in range(len(c))); dP=sum(j*c[j]*z**(j-1) for j in range(1,len(c))) if len(c)>1 else 0
        return (-s*w**(s-1)*P+w**s*dP)/R**2
    gx=project(lambda x,y: 2*(x-src[0])*dk((x-src[0])**2+(y-src[1])**2),5)
    gy=project(lambda x,y: 2*(y-src[1])*dk((x-src[0])**2+(y-src[1])**2),5)
    return filt(gx,d),filt(gy,d)
def F(R,s,q,d):
    def loads(src):
        gx,gy=grads(R,s,q,d,src); A=np.zeros((5,*gx.shape))
        A[0]=-(M[0,0]*gx+M[0,1]*gy); A[1]=-(M[1,0]*gx+M[1,1]*gy)
        return [(A,cum)]
    return loads
P4,P3,P5=[1,1,1,1,1,0],[1,1,1,1,0,0],[1]*6
if __name__=="__main__":
    for n,l in [("F .6 3 4 P4",F(.6,3,4,P4)),("F .6 3 4 P5",F(.6,3,4,P5)),("F .5 4 2 P4",F(.5,4,2,P4)),("F 1 3 4 P4",F(1,3,4,P4)),("F 1 3 4 P5",F(1,3,4,P5))]:
        for p in ("odd","corner"):
            e,*_=errors(None,p,loadf=l)
            print(f"{n:28s} {p:7s}"," ".join(f"{100*np.sqrt((x**2).mean()):6.2f}/{100*x.max():6.2f}" for x in e),flush=True)
